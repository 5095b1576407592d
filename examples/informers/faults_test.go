package informers_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	shopinformers "github.com/kubewright/kubewright/examples/generated/informers/externalversions/shop/v1"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// Some servers, proxies and fakes never send the bookmark that ends a watch-list. Without a
// deadline the informer waits for it for ever. With a deadline it lists in pages instead, and its
// status has the reason.
func Example_noEndBookmark() {
	server := newServer(bakery("corner", "square", ""))
	server.OmitEndBookmark(true)
	bakeries := over(server)
	// This is too short for production: large lists take longer.
	_ = informer.Configure(bakeries, informer.Options{InitialEventsTimeout: 20 * time.Millisecond})
	defer start(bakeries)()

	if err := informer.WaitForSync(context.Background(), bakeries); err != nil {
		fmt.Println(err)
	}
	status, _ := informer.StatusOf(bakeries)
	fmt.Println(status.Objects, "bakery, although", status.LastError)
	for _, request := range server.Requests()[:2] {
		fmt.Println(request.Verb, "streamed:", request.Options.SendInitialEvents != nil)
	}
	// Output:
	// 1 bakery, although no bookmark marked the end of the initial events in time
	// WATCH streamed: true
	// LIST streamed: false
}

// deadLine is a server behind a connection that dies silently: the first watch stays open and delivers
// nothing, not even a bookmark.
type deadLine struct {
	*bakeryServer
	watches atomic.Int32
}

func (d *deadLine) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	if d.watches.Add(1) == 1 {
		return watch.NewFake(), nil
	}
	return d.bakeryServer.Watch(ctx, opts)
}

// A dead watch looks like a quiet one, except that servers send a bookmark about every minute. If a watch has
// delivered nothing for SilenceTimeout, the informer opens another from the same version, so that it misses
// no event.
func Example_silentWatch() {
	server := newServer()
	server.NoWatchListClient() // the informer lists, so its first watch is the one that stays silent
	bakeries := over(&deadLine{bakeryServer: server})
	// This is too short for production. Five minutes are a few bookmarks.
	_ = informer.Configure(bakeries, informer.Options{SilenceTimeout: 20 * time.Millisecond})
	defer start(bakeries)()
	if err := informer.WaitForSync(context.Background(), bakeries); err != nil {
		fmt.Println(err)
	}

	created := server.Create(bakery("corner", "square", ""))
	if err := informer.WaitForVersion(context.Background(), bakeries, created); err != nil {
		fmt.Println(err)
	}
	status, _ := informer.StatusOf(bakeries)
	fmt.Println(status.Objects, "bakery, although", status.LastError)
	// Output: 1 bakery, although nothing arrived on the watch for too long, not even a bookmark
}

// An object that was deleted and created again, while the informer wasn't watching, is another object of the
// same name. By default handlers receive an update, as from client-go. With RecreationIsDeletion they receive
// the deletion of the old object and the addition of the new one.
func Example_recreation() {
	server := newServer(bakery("corner", "square", ""))
	bakeries := over(server)
	_ = informer.Configure(bakeries, informer.Options{RecreationIsDeletion: true})
	told := make(chan string)
	_, _ = bakeries.AddTypedEventHandler(shopinformers.BakeryHandlerFuncs{
		AddFunc:    func(b *shopv1.Bakery) { told <- fmt.Sprint("added ", b.UID, " at the ", b.Spec.Market) },
		UpdateFunc: func(_, b *shopv1.Bakery) { told <- fmt.Sprint("updated ", b.UID) },
		DeleteFunc: func(gone shopinformers.DeletedBakery) {
			told <- fmt.Sprint("deleted ", gone.OptionalObj.UID, " at the ", gone.OptionalObj.Spec.Market)
		},
	})
	defer start(bakeries)()
	fmt.Println(<-told)

	// The connection breaks. It comes back only after the server has dropped its history.
	back := make(chan struct{})
	server.OnRequest(func(context.Context, runtimetest.Request) error {
		<-back
		return nil
	})
	server.FailWatches(apierrors.NewResourceExpired("too old"))
	server.Delete("town", "corner")
	server.Create(bakery("corner", "harbour", ""))
	server.Compact()
	close(back)
	fmt.Println(<-told)
	fmt.Println(<-told)
	// Output:
	// added uid-1 at the square
	// deleted uid-1 at the square
	// added uid-2 at the harbour
}
