package apiserver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"
)

// ReadCRDs reads the CustomResourceDefinitions (apiextensions.k8s.io/v1) from every .yaml file at the top of
// fsys, in the order of the file names. A file may hold several documents, also empty ones. ReadCRDs fails if
// a document has another kind or an unknown field, or if there is no definition.
func ReadCRDs(fsys fs.FS) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	// Glob finds nothing in a folder that isn't there.
	if _, err := fs.Stat(fsys, "."); err != nil {
		return nil, fmt.Errorf("reading the folder of definitions%s: %w", nameOf(fsys), err)
	}
	files, err := fs.Glob(fsys, "*.yaml")
	if err != nil {
		return nil, err
	}
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, file := range files {
		data, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, err
		}
		documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
		for {
			document, err := documents.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			if hasOnlyComments(document) {
				continue
			}
			crd := new(apiextensionsv1.CustomResourceDefinition)
			if err := yaml.UnmarshalStrict(document, crd); err != nil {
				return nil, fmt.Errorf("%s: want only CustomResourceDefinitions at the top of the folder: %w",
					file, err)
			}
			if got, want := crd.GroupVersionKind(), apiextensionsv1.SchemeGroupVersion.WithKind(
				"CustomResourceDefinition",
			); got != want {
				return nil, fmt.Errorf("%s: found %v, want only %v", file, got, want)
			}
			crds = append(crds, crd)
		}
	}
	if len(crds) == 0 {
		return nil, errors.New("no CustomResourceDefinition in any *.yaml at the top of the folder; " +
			"folders below it are not looked into")
	}
	return crds, nil
}

// hasOnlyComments reports whether a document is empty, such as the lines above the first "---" that say how a
// definition was made.
func hasOnlyComments(document []byte) bool {
	for line := range bytes.Lines(document) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

// nameOf returns the path of a folder from os.DirFS, which the errors of that leave out. A relative path
// comes with the working directory that it is relative to, that of the test's package.
func nameOf(fsys fs.FS) string {
	path := reflect.ValueOf(fsys)
	if path.Kind() != reflect.String {
		return ""
	}
	if at, err := os.Getwd(); err == nil && !filepath.IsAbs(path.String()) {
		return fmt.Sprintf(" %s in %s", path, at)
	}
	return " " + path.String()
}

// InstallCRDs creates the definitions that ReadCRDs finds in fsys, as
// CreateCRDs does.
func (s *Server) InstallCRDs(ctx context.Context, fsys fs.FS) error {
	crds, err := ReadCRDs(fsys)
	if err != nil {
		return err
	}
	return s.CreateCRDs(ctx, crds...)
}

// CreateCRDs creates the definitions and returns when each of their served versions can be discovered and
// listed. Their condition Established then says that it is 2 s older than it is, because the server delays
// requests that create objects of a younger definition by 2 s. Definitions that are created in another way
// keep that delay.
func (s *Server) CreateCRDs(ctx context.Context, crds ...*apiextensionsv1.CustomResourceDefinition) error {
	client, err := clientset.NewForConfig(s.Config())
	if err != nil {
		return err
	}
	resources, err := dynamic.NewForConfig(s.Config())
	if err != nil {
		return err
	}
	discover, err := discovery.NewDiscoveryClientForConfig(s.Config())
	if err != nil {
		return err
	}
	for _, crd := range crds {
		if _, err := client.ApiextensionsV1().CustomResourceDefinitions().Create(
			ctx, crd, metav1.CreateOptions{},
		); err != nil {
			return err
		}
	}
	for _, crd := range crds {
		if err := waitForCRD(ctx, client, crd.Name, established); err != nil {
			return err
		}
		if err := predate(ctx, client, crd.Name); err != nil {
			return err
		}
	}
	for _, crd := range crds {
		if err := waitServed(ctx, resources, crd); err != nil {
			return err
		}
		if err := waitDiscovery(ctx, discover, crd, true); err != nil {
			return err
		}
	}
	return nil
}

// young is how long after a definition was established the server delays the creation of objects. By then all
// servers of a cluster have the definition. Here there is only one.
const young = 2 * time.Second

// predate sets back the time at which a definition was established.
func predate(ctx context.Context, client clientset.Interface, name string) error {
	crds := client.ApiextensionsV1().CustomResourceDefinitions()
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		crd, err := crds.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if c := apihelpers.FindCRDCondition(crd, apiextensionsv1.Established); c != nil {
			c.LastTransitionTime.Time = c.LastTransitionTime.Add(-young)
		}
		_, err = crds.UpdateStatus(ctx, crd, metav1.UpdateOptions{})
		return err
	})
}

// DeleteCRDs deletes the named definitions with all their objects and returns when they are gone, from the
// discovery document, too.
func (s *Server) DeleteCRDs(ctx context.Context, names ...string) error {
	client, err := clientset.NewForConfig(s.Config())
	if err != nil {
		return err
	}
	discover, err := discovery.NewDiscoveryClientForConfig(s.Config())
	if err != nil {
		return err
	}
	crds := client.ApiextensionsV1().CustomResourceDefinitions()
	for _, name := range names {
		crd, err := crds.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if err := crds.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			return err
		}
		if err := waitForCRD(ctx, client, name, gone); err != nil {
			return err
		}
		if err := waitDiscovery(ctx, discover, crd, false); err != nil {
			return err
		}
	}
	return nil
}

// condition reports whether a definition, or nil if there is none, is in the wanted state.
type condition func(*apiextensionsv1.CustomResourceDefinition) (met bool, err error)

func established(crd *apiextensionsv1.CustomResourceDefinition) (bool, error) {
	if crd == nil {
		return false, nil
	}
	for _, c := range crd.Status.Conditions {
		switch {
		case c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue:
			return true, nil
		case c.Type == apiextensionsv1.NamesAccepted && c.Status == apiextensionsv1.ConditionFalse:
			return false, fmt.Errorf("CustomResourceDefinition %s: %s: %s", crd.Name, c.Reason, c.Message)
		}
	}
	return false, nil
}

func gone(crd *apiextensionsv1.CustomResourceDefinition) (bool, error) { return crd == nil, nil }

// waitForCRD watches one definition until the condition is met or ctx ends.
func waitForCRD(ctx context.Context, client clientset.Interface, name string, until condition) error {
	crds := client.ApiextensionsV1().CustomResourceDefinitions()
	only := metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", name).String()}
	for {
		list, err := crds.List(ctx, only)
		if err != nil {
			return err
		}
		var crd *apiextensionsv1.CustomResourceDefinition
		if len(list.Items) > 0 {
			crd = &list.Items[0]
		}
		if met, err := until(crd); met || err != nil {
			return err
		}
		since := only
		since.ResourceVersion = list.ResourceVersion
		w, err := crds.Watch(ctx, since)
		if err != nil {
			return err
		}
		met, err := watchCRD(ctx, w, until)
		w.Stop()
		if met || err != nil {
			return err
		}
		// The watch ended by itself: open another.
	}
}

func watchCRD(ctx context.Context, w watch.Interface, until condition) (bool, error) {
	for event := range w.ResultChan() {
		crd, ok := event.Object.(*apiextensionsv1.CustomResourceDefinition)
		if !ok {
			return false, nil
		}
		if event.Type == watch.Deleted {
			crd = nil
		}
		if met, err := until(crd); met || err != nil {
			return met, err
		}
	}
	return false, context.Cause(ctx)
}

// waitServed lists every served version until that works: a definition becomes established a little before
// the server has its handlers, and no condition reports the handlers.
func waitServed(
	ctx context.Context, client dynamic.Interface, crd *apiextensionsv1.CustomResourceDefinition,
) error {
	for _, resource := range served(crd) {
		if err := poll(ctx, fmt.Sprintf("%v isn't served", resource), func() error {
			_, err := client.Resource(resource).List(ctx, metav1.ListOptions{Limit: 1})
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// waitDiscovery polls the aggregated discovery document, which changes last, until it has every served
// version, or none.
func waitDiscovery(
	ctx context.Context, client *discovery.DiscoveryClient, crd *apiextensionsv1.CustomResourceDefinition,
	want bool,
) error {
	return poll(ctx, fmt.Sprintf("the discovery document is old as to %s", crd.Name), func() error {
		_, byVersion, _, err := client.GroupsAndMaybeResourcesWithContext(ctx)
		if err != nil {
			return err
		}
		for _, resource := range served(crd) {
			list := byVersion[resource.GroupVersion()]
			found := list != nil && slices.ContainsFunc(list.APIResources,
				func(r metav1.APIResource) bool { return r.Name == resource.Resource })
			if found != want {
				return fmt.Errorf("%v: %t, want %t", resource, found, want)
			}
		}
		return nil
	})
}

func served(crd *apiextensionsv1.CustomResourceDefinition) (resources []schema.GroupVersionResource) {
	for _, version := range crd.Spec.Versions {
		if version.Served {
			resources = append(resources, schema.GroupVersionResource{
				Group: crd.Spec.Group, Version: version.Name, Resource: crd.Spec.Names.Plural})
		}
	}
	return resources
}
