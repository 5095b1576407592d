package builtins

import (
	"math/rand"
	"strings"
	"testing"

	generatedopenapi "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/managedfields"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/kube-openapi/pkg/builder3"
	"k8s.io/kube-openapi/pkg/util"
)

// allowDuplicates is AllowDuplicates of structured-merge-diff, whose major depends on apimachinery.
const allowDuplicates = 0

// TestDefinitions compares the fields that server-side apply finds in random objects by our definitions with
// those that it finds by client-go's, which are Kubernetes' own.
func TestDefinitions(t *testing.T) {
	scheme := Published()
	config := genericapiserver.DefaultOpenAPIV3Config(
		Definitions(generatedopenapi.GetOpenAPIDefinitions), openapinamer.NewDefinitionNamer(scheme))
	var names []string
	for _, k := range kinds {
		for _, object := range k.objects {
			names = append(names, util.GetCanonicalTypeName(object))
		}
	}
	schemas, err := builder3.BuildOpenAPIDefinitionsForResources(config, names...)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := managedfields.NewTypeConverter(schemas, false)
	if err != nil {
		t.Fatal(err)
	}
	theirs := applyconfigurations.NewTypeConverter(scheme)
	fill := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(1), serializer.NewCodecFactory(scheme))
	for _, k := range kinds {
		for _, object := range k.objects {
			gvks, _, err := scheme.ObjectKinds(object)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(gvks[0].Kind, "List") {
				continue
			}
			fields := 0
			for range 100 {
				object := object.DeepCopyObject()
				fill.Fill(object)
				object.GetObjectKind().SetGroupVersionKind(gvks[0])
				got, err := ours.ObjectToTyped(object, allowDuplicates)
				if err != nil {
					t.Fatal(err)
				}
				want, err := theirs.ObjectToTyped(object, allowDuplicates)
				if err != nil {
					t.Fatal(err)
				}
				gotFields, err := got.ToFieldSet()
				if err != nil {
					t.Fatal(err)
				}
				wantFields, err := want.ToFieldSet()
				if err != nil {
					t.Fatal(err)
				}
				if !gotFields.Equals(wantFields) {
					t.Fatalf("%v: the fields of %v are\n%v\nwant\n%v", gvks[0], object, gotFields, wantFields)
				}
				fields += gotFields.Size()
			}
			if fields < 500 {
				t.Errorf("%v: 100 objects have only %d fields", gvks[0], fields)
			}
		}
	}
}
