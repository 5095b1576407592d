package main

import (
	"cmp"
	"context"
	"fmt"
	"go/token"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/kubewright/kubewright/generators"
)

// finding is something that a server says of a definition.
type finding struct {
	at token.Position
	// path is the server's path of the field, "" for the definition as a whole.
	path, message string
	// warning means that the server accepts the definition nevertheless.
	warning bool
}

func (f finding) compare(other finding) int {
	return cmp.Or(strings.Compare(f.at.Filename, other.at.Filename), f.at.Line-other.at.Line,
		f.at.Column-other.at.Column)
}

func (f finding) String() string {
	if f.warning {
		return fmt.Sprintf("%v: warning: %s", f.at, f.message)
	}
	return fmt.Sprintf("%v: %s: %s", f.at, f.path, f.message)
}

// check does what an API server does with a definition before it stores it.
func check(ctx context.Context, scheme *runtime.Scheme, d generators.Definition) (all []finding, err error) {
	var sent apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(d.Text, &sent); err != nil {
		return nil, err
	}
	scheme.Default(&sent)
	var stored apiextensions.CustomResourceDefinition
	if err := scheme.Convert(&sent, &stored, nil); err != nil {
		return nil, err
	}
	strategy := customresourcedefinition.NewStrategy(scheme)
	strategy.PrepareForCreate(ctx, &stored)
	for _, err := range strategy.Validate(ctx, &stored) {
		all = append(all, finding{at: d.At(err.Field), path: err.Field, message: message(err)})
	}
	for _, warning := range strategy.WarningsOnCreate(ctx, &stored) {
		all = append(all, finding{at: d.At(""), message: warning, warning: true})
	}
	return all, nil
}

// message returns the server's message in one line. It leaves out the value, which stands at the finding's
// place, and the copies of rules in errors of CEL.
func message(err *field.Error) string {
	var kept []string
	for line := range strings.Lines(err.Detail) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "|") {
			kept = append(kept, line)
		}
	}
	if len(kept) == 0 {
		return err.Type.String()
	}
	return strings.Join(kept, " ")
}
