package client_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/kubewright/kubewright/runtime/gen/client"
)

// answering returns a REST client that receives the current text of body as each response.
func answering(t *testing.T, body *string) rest.Interface {
	t.Helper()
	transport := roundTrip(func(r *http.Request) (*http.Response, error) {
		code := http.StatusOK
		if strings.Contains(*body, "Failure") {
			code = http.StatusConflict
		}
		return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(strings.NewReader(*body)), Request: r}, nil
	})
	c, err := apps.RESTClient(&rest.Config{Host: "http://server", QPS: -1},
		&http.Client{Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func answer(version string) string {
	return fmt.Sprintf(
		`{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"d","uid":"u","resourceVersion":%q}}`,
		version)
}

const gone = `{"kind":"Status","apiVersion":"v1","status":"Success","details":{"name":"d",` +
	`"kind":"deployments","uid":"u"}}`

// TestWritten checks what each kind of write records.
func TestWritten(t *testing.T) {
	type do = func(context.Context, deployments) error
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d"}}
	config := &deployment{Name: ptr.To("d")}
	remove := func(opts metav1.DeleteOptions) do {
		return func(ctx context.Context, c deployments) error { return c.Delete(ctx, "d", opts) }
	}
	withUID := metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions("wanted")}
	for _, test := range []struct {
		name, body string
		do         do
		version    string
		uid        types.UID // of the deleted object
		deletion   string    // the version of the deletion
		fails      bool
	}{
		{name: "create", do: func(ctx context.Context, c deployments) error {
			_, err := c.Create(ctx, d, metav1.CreateOptions{})
			return err
		}, body: answer("7"), version: "7"},
		{name: "update", do: func(ctx context.Context, c deployments) error {
			_, err := c.Update(ctx, d, metav1.UpdateOptions{})
			return err
		}, body: answer("7"), version: "7"},
		{name: "update of the status", do: func(ctx context.Context, c deployments) error {
			_, err := c.UpdateStatus(ctx, d, metav1.UpdateOptions{})
			return err
		}, body: answer("7"), version: "7"},
		{name: "patch", do: func(ctx context.Context, c deployments) error {
			_, err := c.Patch(ctx, "d", types.MergePatchType, nil, metav1.PatchOptions{})
			return err
		}, body: answer("7"), version: "7"},
		{name: "apply", do: func(ctx context.Context, c deployments) error {
			_, err := c.Apply(ctx, config, metav1.ApplyOptions{})
			return err
		}, body: answer("7"), version: "7"},
		{name: "apply of the status", do: func(ctx context.Context, c deployments) error {
			_, err := c.ApplyStatus(ctx, config, metav1.ApplyOptions{})
			return err
		}, body: answer("7"), version: "7"},
		{name: "CreateAs", do: func(ctx context.Context, c deployments) error {
			_, err := client.CreateAs[*appsv1.Deployment](ctx, c, "", "", d, metav1.CreateOptions{})
			return err
		}, body: answer("7"), version: "7"},
		{name: "UpdateAs of another type", do: func(ctx context.Context, c deployments) error {
			_, err := client.UpdateAs[*autoscalingv1.Scale](ctx, c, "d", "scale", d, metav1.UpdateOptions{})
			return err
		},
			body: `{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"d",` +
				`"resourceVersion":"7"}}`, version: "7"},
		{name: "PatchAs", do: func(ctx context.Context, c deployments) error {
			_, err := client.PatchAs[*appsv1.Deployment](ctx, c, "d", types.MergePatchType, nil,
				metav1.PatchOptions{})
			return err
		}, body: answer("7"), version: "7"},
		{name: "ApplyAs", do: func(ctx context.Context, c deployments) error {
			_, err := client.ApplyAs[*appsv1.Deployment](ctx, c, "", "", config, metav1.ApplyOptions{})
			return err
		}, body: answer("7"), version: "7"},
		{name: "a failed update", do: func(ctx context.Context, c deployments) error {
			_, err := c.Update(ctx, d, metav1.UpdateOptions{})
			return err
		}, body: `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","code":409}`,
			fails: true},
		{name: "get", do: func(ctx context.Context, c deployments) error {
			_, err := c.Get(ctx, "d", metav1.GetOptions{})
			return err
		}, body: answer("7")},
		{name: "a delete that is not over", do: remove(metav1.DeleteOptions{}), body: answer("7"),
			version: "7"},
		{name: "a delete", do: remove(metav1.DeleteOptions{}), body: gone, uid: "u"},
		{name: "a delete with a version", do: remove(metav1.DeleteOptions{}),
			body: strings.Replace(gone, `"status":"S`, `"metadata":{"resourceVersion":"9"},"status":"S`, 1),
			uid:  "u", deletion: "9"},
		{name: "a delete with a version alone", do: remove(metav1.DeleteOptions{}),
			body:     `{"kind":"Status","apiVersion":"v1","metadata":{"resourceVersion":"9"},"status":"Success"}`,
			deletion: "9"},
		{name: "a delete with a UID", do: remove(withUID), body: strings.ReplaceAll(gone, `,"uid":"u"`, ""),
			uid: "wanted"},
		{name: "a delete without one", do: remove(metav1.DeleteOptions{}),
			body: strings.ReplaceAll(gone, `,"uid":"u"`, "")},
		{name: "a delete that says nothing", do: remove(metav1.DeleteOptions{}), body: ``},
		{name: "a delete of another type", do: remove(metav1.DeleteOptions{}),
			body: `{"kind":"Unheard","apiVersion":"of/v1"}`},
		{name: "a delete in mind", do: remove(metav1.DeleteOptions{DryRun: []string{"All"}}), body: gone},
		{name: "a failed delete", do: remove(withUID),
			body:  `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","code":409}`,
			fails: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newDeployments(answering(t, &test.body), "ns", client.RememberIn(&client.Writes{}))
			if err := test.do(t.Context(), c); (err != nil) != test.fails {
				t.Fatal(err)
			}
			got, ok := c.Written("", 0)
			if !ok || got.ResourceVersion != test.version {
				t.Errorf("version %q, %t, want %q", got.ResourceVersion, ok, test.version)
			}
			var uid types.UID
			var version string
			for _, deleted := range got.Deletions {
				if deleted.Namespace != "ns" || deleted.Name != "d" || deleted.Sequence != 1 {
					t.Errorf("deleted %+v", deleted)
				}
				uid, version = deleted.UID, deleted.ResourceVersion
			}
			if uid != test.uid || version != test.deletion {
				t.Errorf("deleted %q at %q, want %q at %q", uid, version, test.uid, test.deletion)
			}
		})
	}
}

// TestWrittenWhere checks that the version of a namespace and of a resource is the highest one, whatever the
// order of the responses. Namespaces beyond the limit share a version that is high enough.
func TestWrittenWhere(t *testing.T) {
	var body string
	c, writes := answering(t, &body), &client.Writes{}
	update := func(namespace, version string) {
		t.Helper()
		body = answer(version)
		if _, err := newDeployments(c, namespace, client.RememberIn(writes)).Update(
			t.Context(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d"}}, metav1.UpdateOptions{},
		); err != nil {
			t.Fatal(err)
		}
	}
	check := func(of, namespace, want string) {
		t.Helper()
		if got, ok := newDeployments(c, of, client.RememberIn(writes)).Written(namespace, 0); !ok ||
			got.ResourceVersion != want {
			t.Errorf("written in %q by the client of %q: %q, want %q", namespace, of,
				got.ResourceVersion, want)
		}
	}
	check("", "", "")
	update("a", "10")
	update("a", "9")
	update("b", "8")
	check("a", "", "10")
	check("b", "a", "8")
	check("", "b", "8")
	check("", "", "10")
	check("c", "", "")
	others := client.New[*appsv1.Deployment](c, codec, "others", "", client.RememberIn(writes))
	if got, _ := others.Written("", 0); got.ResourceVersion != "" {
		t.Errorf("another resource: %q", got.ResourceVersion)
	}
	if _, ok := newDeployments(c, "a").Written("", 0); ok {
		t.Error("a client that doesn't record writes has some")
	}
	for n := range 5000 {
		update(fmt.Sprint("many", n), fmt.Sprint(1000+n))
	}
	for n := range 5000 {
		namespace := fmt.Sprint("many", n)
		got, _ := newDeployments(c, namespace, client.RememberIn(writes)).Written("", 0)
		if version := fmt.Sprint(1000 + n); len(got.ResourceVersion) != 4 || got.ResourceVersion < version {
			t.Fatalf("written in %s: %s, want %s or later", namespace, got.ResourceVersion, version)
		}
	}
	check("", "many4999", "5999")
	check("", "many4998", "5998")
	check("", "", "5999")
}

// TestWrittenDeletions checks that the last of many deletions are kept, and that each is returned once.
func TestWrittenDeletions(t *testing.T) {
	body := gone
	c := newDeployments(answering(t, &body), "ns", client.RememberIn(&client.Writes{}))
	var seen []client.Deletion
	for n := range 3000 {
		if err := c.Delete(t.Context(), fmt.Sprint("d", n), metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if n%100 == 0 {
			after := uint64(len(seen))
			got, _ := c.Written("", after)
			seen = append(seen, got.Deletions...)
		}
	}
	for n, deleted := range seen {
		if deleted.Sequence != uint64(n+1) || deleted.Name != fmt.Sprint("d", n) {
			t.Fatalf("deletion %d: %+v", n, deleted)
		}
	}
	all, _ := c.Written("", 0)
	if n := len(all.Deletions); n < 512 || n > 1024 || all.Deletions[n-1].Sequence != 3000 {
		t.Errorf("%d deletions are kept", n)
	}
}
