package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
)

// strict refuses unknown fields.
var strict = serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()

// manifest returns the objects of a file.
func manifest(t *testing.T, name string) (objects []runtime.Object) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	reader := yaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(text)))
	for buffer := make([]byte, len(text)); ; {
		n, err := reader.Read(buffer)
		if errors.Is(err, io.EOF) {
			return objects
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		object, _, err := strict.Decode(buffer[:n], nil, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		objects = append(objects, object)
	}
}

// one returns the only object of a type.
func one[T runtime.Object](t *testing.T, objects []runtime.Object) (found T) {
	t.Helper()
	n := 0
	for _, object := range objects {
		if o, ok := object.(T); ok {
			found = o
			n++
		}
	}
	if n != 1 {
		t.Fatalf("%d objects are %T, want 1", n, found)
	}
	return found
}

// variable matches a reference to a variable of the environment.
var variable = regexp.MustCompile(`\$\((\w+)\)`)

// TestDeploy checks that the parts of the manifest fit together, and fit this program and package sharding.
func TestDeploy(t *testing.T) {
	objects := manifest(t, "deploy.yaml")
	namespace := one[*corev1.Namespace](t, objects).Name
	account := one[*corev1.ServiceAccount](t, objects)
	role := one[*rbacv1.Role](t, objects)
	binding := one[*rbacv1.RoleBinding](t, objects)
	clusterRole := one[*rbacv1.ClusterRole](t, objects)
	clusterBinding := one[*rbacv1.ClusterRoleBinding](t, objects)
	deployment := one[*appsv1.Deployment](t, objects)
	for _, object := range []metav1.Object{account, role, binding, deployment} {
		if object.GetNamespace() != namespace {
			t.Errorf("%s is in the namespace %q", object.GetName(), object.GetNamespace())
		}
	}
	subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Name: account.Name, Namespace: namespace}}
	if !reflect.DeepEqual(binding.Subjects, subjects) || !reflect.DeepEqual(clusterBinding.Subjects, subjects) {
		t.Errorf("roles are bound to %v and %v", binding.Subjects, clusterBinding.Subjects)
	}
	refersTo := func(kind, name string) rbacv1.RoleRef {
		return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: name}
	}
	if binding.RoleRef != refersTo("Role", role.Name) ||
		clusterBinding.RoleRef != refersTo("ClusterRole", clusterRole.Name) {
		t.Errorf("the bound roles are %v and %v", binding.RoleRef, clusterBinding.RoleRef)
	}
	needed := one[*rbacv1.Role](t, manifest(t, "../../sharding/role.yaml"))
	if !reflect.DeepEqual(role.Rules, needed.Rules) {
		t.Errorf("the rules are %v, sharding/role.yaml has %v", role.Rules, needed.Rules)
	}

	pod := deployment.Spec.Template.Spec
	selector, err := metav1.LabelSelectorAsSelector(deployment.Spec.Selector)
	if err != nil || !selector.Matches(labels.Set(deployment.Spec.Template.Labels)) {
		t.Errorf("the deployment selects %v, its pods have %v, %v",
			selector, deployment.Spec.Template.Labels, err)
	}
	if pod.ServiceAccountName != account.Name {
		t.Errorf("the pods' service account is %s", pod.ServiceAccountName)
	}
	container := pod.Containers[0]
	for _, arg := range container.Args {
		for _, name := range variable.FindAllStringSubmatch(arg, -1) {
			if !slices.ContainsFunc(container.Env, func(e corev1.EnvVar) bool { return e.Name == name[1] }) {
				t.Errorf("%s refers to a variable that isn't set", arg)
			}
		}
	}
	var o options
	flags := flag.NewFlagSet("sharded", flag.ContinueOnError)
	o.register(flags)
	if err := flags.Parse(container.Args); err != nil || flags.NArg() > 0 {
		t.Errorf("the arguments: %v, not read: %v", err, flags.Args())
	}
	probe := container.ReadinessProbe.HTTPGet
	if probe.Path != "/readyz" || ":"+probe.Port.String() != o.health {
		t.Errorf("the probe asks port %s for %s, which is served at %s", &probe.Port, probe.Path, o.health)
	}
	grace := time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second
	if leaving := 2 * 20 * time.Second; grace <= leaving {
		t.Errorf("the pods are killed after %s, leaving takes up to %s", grace, leaving)
	}
}
