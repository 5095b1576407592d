package tour

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/pager"

	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
)

// A list with a limit comes in pages. Each page has a token for the next one. All pages are of one version,
// so no object is missed or repeated. A token expires with the history of its version: the request of the
// next page then fails with an error for which apierrors.IsResourceExpired is true.
func TestPagination(t *testing.T) {
	clients, err := versioned.NewForConfig(serverConfig(t)) // of server_test.go, like namespace and bakery
	if err != nil {
		t.Fatal(err)
	}
	bakeries := clients.ShopV1().Bakeries(namespace(t))
	for n := range 5 {
		one := bakery(t, fmt.Sprint("b", n))
		if _, err := bakeries.Create(t.Context(), one, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	var names, versions []string
	options := metav1.ListOptions{Limit: 2}
	for page := 1; ; page++ {
		list, err := bakeries.List(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range list.Items {
			names = append(names, b.Name)
		}
		versions = append(versions, list.ResourceVersion)
		if list.Continue == "" {
			break
		}
		options.Continue = list.Continue
	}
	if fmt.Sprint(names) != "[b0 b1 b2 b3 b4]" || len(versions) != 3 || versions[0] != versions[2] {
		t.Errorf("%v in pages of versions %v", names, versions)
	}

	// client-go's pager reads the pages, too, and calls a function for each object. If a token expires,
	// EachListItem returns the error; the pager's List, which returns a whole list, lists again without pages.
	count := 0
	pages := pager.New(pager.SimplePageFunc(func(o metav1.ListOptions) (runtime.Object, error) {
		return bakeries.List(t.Context(), o)
	}))
	pages.PageSize = 2
	err = pages.EachListItem(t.Context(), metav1.ListOptions{}, func(runtime.Object) error {
		count++
		return nil
	})
	if err != nil || count != 5 {
		t.Errorf("error %v, the pager saw %d objects, want 5", err, count)
	}
}
