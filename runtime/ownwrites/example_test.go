package ownwrites_test

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/ownwrites"
	"github.com/kubewright/kubewright/runtime/queue"
	"github.com/kubewright/kubewright/runtime/workqueue"
)

// A reconcile that creates an object, and is called again at once, finds it in the cache.
func Example() {
	s := newServer() // An API server in memory.
	tracker := &ownwrites.Tracker{}
	// With client-go's configuration: config.Wrap(tracker.Transport)
	client := &http.Client{Transport: tracker.Transport(&api{server: s})}

	informer := newInformer(s)
	if err := tracker.Add(informer); err != nil {
		fmt.Println(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { informer.RunWithContext(ctx) })
	cache.WaitForCacheSync(ctx.Done(), informer.HasSynced)

	q := ownwrites.NewQueue(tracker, queue.Config[string]{})
	q.Add("shop/one")
	reconcile := func(ctx context.Context, key string) (workqueue.Result, error) {
		if _, found, _ := informer.GetStore().GetByKey(key); found {
			fmt.Println("it exists")
			q.ShutDown()
			return workqueue.Result{}, nil
		}
		fmt.Println("it is created")
		body := strings.NewReader(`{"metadata": {"name": "one"}}`)
		const url = "http://api/api/v1/namespaces/shop/configmaps"
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, body)
		if err != nil {
			return workqueue.Result{}, err
		}
		resp, err := client.Do(req)
		if err != nil {
			return workqueue.Result{}, err
		}
		q.Add(key) // The next call doesn't come before the cache shows the object.
		return workqueue.Result{}, readAll(resp)
	}
	if err := workqueue.Run(ctx, q, 1, reconcile); err != nil {
		fmt.Println(err)
	}
	cancel()
	// Output:
	// it is created
	// it exists
}

// A handler that adds an object's own key, but not because of what the key's reconcile has just written.
func Example_echoes() {
	tracker := &ownwrites.Tracker{SkipEchoes: true}
	q := ownwrites.NewQueue(tracker, queue.Config[string]{})
	informer := newInformer(newServer())
	key := func(old, changed *corev1.ConfigMap) []string {
		o := cmp.Or(changed, old)
		return []string{o.Namespace + "/" + o.Name}
	}
	if _, err := informer.AddEventHandler(workqueue.Enqueue(q, key)); err != nil {
		fmt.Println(err)
	}
}
