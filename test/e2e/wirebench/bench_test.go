package wirebench

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/envtest/apiserver"
	"github.com/kubewright/kubewright/internal/wirebench"
)

// BenchmarkSync measures what it costs to fill an informer's cache with 20,000 custom resources of 4.7 KB,
// from an embedded API server.
func BenchmarkSync(b *testing.B) {
	program := filepath.Join(b.TempDir(), "child")
	if out, err := exec.CommandContext(b.Context(), "go", "build", "-o", program,
		"github.com/kubewright/kubewright/internal/wirebench/child").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	server, err := apiserver.Start(b.Context(), apiserver.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := server.Stop(); err != nil {
			b.Error(err)
		}
	})
	if err := server.CreateCRDs(b.Context(), definition()); err != nil {
		b.Fatal(err)
	}
	config := server.Config()
	fill(b, config, wirebench.Objects)
	wirebench.Sync(b, wirebench.Server{
		Host: config.Host, Token: config.BearerToken, Name: config.ServerName, CA: config.CAData,
		Objects: wirebench.Objects, Program: program,
	}, wirebench.Pairs("workloads", wirebench.Generated))
}

// definition defines workloads. The server accepts any content.
func definition() *apiextensionsv1.CustomResourceDefinition {
	keep := true
	group := wirebench.GroupVersion
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "workloads." + group.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group.Group,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "workloads", Singular: "workload",
				Kind: "Workload", ListKind: "WorkloadList"},
			Scope: apiextensionsv1.NamespaceScoped,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: group.Version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{
					OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object",
						XPreserveUnknownFields: &keep}},
			}},
		},
	}
}

// version matches the field that an object must not have when it is created.
var version = regexp.MustCompile(`"resourceVersion":"\d+",`)

// fill creates the given number of objects.
func fill(b testing.TB, config *rest.Config, objects int) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		b.Fatal(err)
	}
	const creators = 8
	var wait sync.WaitGroup
	for k := range creators {
		wait.Go(func() {
			for i := k; i < objects && b.Context().Err() == nil; i += creators {
				url := fmt.Sprintf("%s/apis/%s/namespaces/team-%d/workloads", config.Host,
					wirebench.GroupVersion, i%50)
				answer, err := client.Post(url,
					"application/json", bytes.NewReader(version.ReplaceAll(wirebench.Object(i), nil)))
				if err != nil {
					b.Error(err)
					return
				}
				text, err := io.ReadAll(answer.Body)
				if answer.Body.Close(); answer.StatusCode != http.StatusCreated || err != nil {
					b.Errorf("%s: %s, %v", answer.Status, text, err)
					return
				}
			}
		})
	}
	wait.Wait()
	if b.Failed() {
		b.FailNow()
	}
}
