package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubewright/kubewright/envtest/apiserver"
	"github.com/kubewright/kubewright/generators"
)

// judge compares what crdcheck says of definitions with what an API server says.
type judge struct {
	crdcheck string
	server   *apiserver.Server
	client   clientset.Interface
}

// newJudge builds crdcheck into a folder, and starts a server.
func newJudge(ctx context.Context, bin string) (*judge, error) {
	j := &judge{crdcheck: filepath.Join(bin, "crdcheck")}
	build := exec.CommandContext(ctx, "go", "build", "-o", j.crdcheck, ".")
	build.Dir = filepath.Join("..", "..", "..", "crdcheck")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building crdcheck: %w\n%s", err, out)
	}
	var err error
	if j.server, err = apiserver.Start(ctx, apiserver.Options{}); err != nil {
		return nil, err
	}
	j.client, err = clientset.NewForConfig(j.server.Config())
	return j, err
}

// verdict is the comparison for some definitions.
type verdict struct {
	definitions, equal int
	// refused are the definitions that the server refuses.
	refused int
	text    string
}

// fieldLine matches a line of crdcheck about a field.
var fieldLine = regexp.MustCompile(`(?m)^\S+:\d+:\d+: ((?:spec|metadata)[.[]\S*): `)

// compare compares the verdicts on definitions, which crdcheck makes of packages itself.
func (j *judge) compare(
	ctx context.Context, dir string, args []string, definitions []generators.Definition,
) (v verdict, err error) {
	cmd := exec.CommandContext(ctx, j.crdcheck, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return v, err
	}
	var got, want []string
	for _, m := range fieldLine.FindAllStringSubmatch(string(out), -1) {
		got = append(got, m[1])
	}
	v.definitions = len(definitions)
	for _, d := range definitions {
		fields, err := j.ask(ctx, d.Text)
		if err != nil {
			return v, fmt.Errorf("%s: %w", d.File, err)
		}
		if len(fields) > 0 {
			v.refused++
		}
		want = append(want, fields...)
	}
	slices.Sort(got)
	slices.Sort(want)
	last := fmt.Sprintf("definitions that servers refuse: %d of %d\n", v.refused, v.definitions)
	if v.refused == 0 {
		last = fmt.Sprintf("definitions that servers accept: all %d\n", v.definitions)
	}
	if slices.Equal(got, want) && strings.HasSuffix(string(out), last) {
		v.equal = v.definitions
	} else {
		v.text = fmt.Sprintf("crdcheck says:\n%sthe server: %s%s\n", out, last, strings.Join(want, "\n"))
	}
	return v, nil
}

// ask returns the paths of the fields for which a server refuses a definition, none if it would accept it.
func (j *judge) ask(ctx context.Context, text []byte) (fields []string, err error) {
	var d apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &d); err != nil {
		return nil, err
	}
	_, err = j.client.ApiextensionsV1().CustomResourceDefinitions().Create(ctx, &d,
		metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) {
		return nil, err
	}
	for _, cause := range status.Status().Details.Causes {
		fields = append(fields, cause.Field)
	}
	return fields, nil
}
