package e2e

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientfeatures "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"

	"github.com/kubewright/kubewright/envtest/apiserver"
	"github.com/kubewright/kubewright/envtest/record"
	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
)

// many objects fill more than two pages of an informer's list.
const many = 1100

// fill creates many markets of a scope.
func fill(ctx context.Context, t *testing.T, c versioned.Interface, scope string) {
	t.Helper()
	names := make(chan string)
	var creating sync.WaitGroup
	for range 8 {
		creating.Go(func() {
			for name := range names {
				if _, err := c.ShopV1().Markets().Create(
					ctx, markets.named(scope, name), metav1.CreateOptions{},
				); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range many {
		names <- fmt.Sprint(i)
	}
	close(names)
	creating.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// TestPages lists many objects in pages, through the clientset and through an informer. The informer also
// does it with a continue token that expires between two pages.
func TestPages(t *testing.T) {
	clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, false)
	ctx := within(t, 5*time.Minute)
	server := uncached.get(t)
	client := clientset(t, server.Config())
	scope := scope(t)
	fill(ctx, t, client, scope)
	all := markets.fresh(ctx, t, client, scope)
	if len(all) != many {
		t.Fatalf("%d objects, want %d", len(all), many)
	}

	t.Run("clientset", func(t *testing.T) {
		const page = 300
		var listed []*shopv1.Market
		options := metav1.ListOptions{LabelSelector: scopeLabel + "=" + scope, Limit: page}
		versions := map[string]bool{}
		for {
			list, err := client.ShopV1().Markets().List(ctx, options)
			if err != nil {
				t.Fatal(err)
			}
			if len(list.Items) > page {
				t.Errorf("a page of %d, want %d at most", len(list.Items), page)
			}
			for i := range list.Items {
				listed = append(listed, &list.Items[i])
			}
			versions[list.ResourceVersion] = true
			if options.Continue = list.Continue; options.Continue == "" {
				break
			}
		}
		equal(t, "the pages", listed, all)
		if len(versions) != 1 {
			t.Errorf("the pages are of %d versions, want 1", len(versions))
		}
	})
	t.Run("informer", func(t *testing.T) { testInformerPages(ctx, t, server, client, scope, func() {}) })
	t.Run("informer expired", func(t *testing.T) {
		testInformerPages(ctx, t, server, client, scope, func() {
			if err := client.ShopV1().Markets().Delete(
				ctx, all[many-1].Name, metav1.DeleteOptions{},
			); err != nil {
				t.Error(err)
			}
			if _, err := server.Compact(ctx); err != nil {
				t.Error(err)
			}
		})
	})
}

// testInformerPages syncs an informer of the scope's markets, and calls between before it requests the second
// page.
func testInformerPages(
	ctx context.Context, t *testing.T, server *apiserver.Server, client versioned.Interface, scope string,
	between func(),
) {
	var once sync.Once
	seen := &spy{before: func(q url.Values) {
		if isNextPage(q) {
			once.Do(between)
		}
	}}
	s := newSubject(t, markets, scope, client, seen.on(server.Config()))
	s.start()
	s.synced(ctx)
	fresh := markets.fresh(ctx, t, client, scope)
	equal(t, "the store", s.stored(), fresh)
	if got, want := s.first.Versions(), record.Versions(fresh); !maps.Equal(got, want) {
		t.Errorf("the handler received %d objects, want the %d of the list", len(got), len(want))
	}
	if pages := seen.count(isNextPage); pages == 0 {
		t.Error("the list came in one page")
	}
}
