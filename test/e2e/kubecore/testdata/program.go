// This program uses informers, listers and a clientset generated from
// k8s.io/api against a real kube-apiserver. It is compiled in the module that
// they are generated into; package kubecore runs it.
//
//	program WATCH_KUBECONFIG WRITE_KUBECONFIG
//
// Where it needs the network or the server to fail it prints a line "please
// WORD" and reads a line from standard input, which says that it is so.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/kubecore/pkg/client/clientset/versioned"
	"example.com/kubecore/pkg/client/informers/externalversions"
	coreinformers "example.com/kubecore/pkg/client/informers/externalversions/core/v1"
)

const namespace = "default"

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	if err := run(ctx, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "program:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, watchConfig, writeConfig string) error {
	watching, err := connect(watchConfig)
	if err != nil {
		return err
	}
	writing, err := connect(writeConfig)
	if err != nil {
		return err
	}
	factory := externalversions.NewSharedInformerFactory(watching, 0)
	pods, configMaps := factory.Core().V1().Pods(), factory.Core().V1().ConfigMaps()
	seenPods, seenConfigMaps := newAccount(), newAccount()
	_, err1 := pods.TypedInformer().AddTypedEventHandler(coreinformers.PodHandlerFuncs{
		AddFunc:    func(p *corev1.Pod) { seenPods.added(p) },
		UpdateFunc: func(_, p *corev1.Pod) { seenPods.updated(p) },
		DeleteFunc: func(d coreinformers.DeletedPod) { seenPods.deleted(d.GetName()) },
	})
	_, err2 := configMaps.TypedInformer().AddTypedEventHandler(coreinformers.ConfigMapHandlerFuncs{
		AddFunc:    func(c *corev1.ConfigMap) { seenConfigMaps.added(c) },
		UpdateFunc: func(_, c *corev1.ConfigMap) { seenConfigMaps.updated(c) },
		DeleteFunc: func(d coreinformers.DeletedConfigMap) { seenConfigMaps.deleted(d.GetName()) },
	})
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer factory.Shutdown()
	defer stop()
	factory.StartWithContext(ctx)
	if err := factory.WaitForCacheSyncWithContext(ctx).AsError(); err != nil {
		return err
	}

	// settle waits until what the informers hold, and what their handlers were
	// told, equals a fresh list.
	settle := func(what string) error {
		podList, err := writing.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		want := map[string]string{}
		for _, p := range podList.Items {
			want[p.Name] = p.ResourceVersion
		}
		err = seenPods.wait(ctx, want, func() (map[string]string, error) {
			list, err := pods.Lister().Pods(namespace).List(labels.Everything())
			return versions(list), err
		})
		if err != nil {
			return fmt.Errorf("%s: pods: %w", what, err)
		}
		configMapList, err := writing.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		want = map[string]string{}
		for _, c := range configMapList.Items {
			want[c.Name] = c.ResourceVersion
		}
		err = seenConfigMaps.wait(ctx, want, func() (map[string]string, error) {
			list, err := configMaps.Lister().ConfigMaps(namespace).List(labels.Everything())
			return versions(list), err
		})
		if err != nil {
			return fmt.Errorf("%s: config maps: %w", what, err)
		}
		fmt.Printf("%s: %d pods, %d config maps, the same as on the server\n", what, len(podList.Items), len(configMapList.Items))
		return nil
	}

	w := writer{ctx: ctx, client: writing}
	input := bufio.NewScanner(os.Stdin)
	please := func(word string) error {
		fmt.Println("please", word)
		if !input.Scan() {
			return fmt.Errorf("nobody answers %q", word)
		}
		return nil
	}
	steps := []struct {
		what   string
		before string
		write  func()
		after  string
	}{
		{what: "created", write: func() { w.create("a", 20) }},
		{what: "updated", write: func() { w.update("a", 0, 10) }},
		{what: "deleted", write: func() { w.delete("a", 5, 8) }},
		{what: "connections cut", before: "cut", write: func() { w.create("b", 10); w.update("b", 0, 5) }},
		{what: "changed while disconnected", before: "down", write: func() { w.delete("a", 10, 15); w.update("b", 5, 10); w.create("c", 5) }, after: "up"},
		{what: "recreated while disconnected", before: "down", write: func() { w.delete("c", 0, 5); w.create("c", 5) }, after: "up"},
		{what: "server restarted", before: "restart", write: func() { w.create("d", 10); w.update("d", 0, 3); w.delete("d", 3, 6) }},
	}
	for _, s := range steps {
		if s.before != "" {
			if err := please(s.before); err != nil {
				return err
			}
		}
		s.write()
		if w.err != nil {
			return fmt.Errorf("%s: %w", s.what, w.err)
		}
		if s.after != "" {
			if err := please(s.after); err != nil {
				return err
			}
		}
		if err := settle(s.what); err != nil {
			return err
		}
	}
	fmt.Printf("notifications: %s of pods, %s of config maps\n", seenPods, seenConfigMaps)
	return errors.Join(seenPods.err, seenConfigMaps.err)
}

func connect(path string) (versioned.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return nil, err
	}
	config.QPS = -1 // the server is ours
	return versioned.NewForConfig(config)
}

func versions[T metav1.Object](objects []T) map[string]string {
	m := make(map[string]string, len(objects))
	for _, o := range objects {
		m[o.GetName()] = o.GetResourceVersion()
	}
	return m
}

// account is what a handler was told, held to be a possible history.
type account struct {
	mu                     sync.Mutex
	objects                map[string]string
	changed                chan struct{} // closed at the next notification
	err                    error
	adds, updates, deletes int
}

func newAccount() *account {
	return &account{objects: map[string]string{}, changed: make(chan struct{})}
}

func (a *account) tell(name string, exists bool, tell func(), what string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, ok := a.objects[name]; ok != exists && a.err == nil {
		a.err = fmt.Errorf("%s was %s, but the handler knew it: %v", name, what, ok)
	}
	tell()
	close(a.changed)
	a.changed = make(chan struct{})
}

func (a *account) added(o metav1.Object) {
	a.tell(o.GetName(), false, func() { a.adds++; a.objects[o.GetName()] = o.GetResourceVersion() }, "added")
}

func (a *account) updated(o metav1.Object) {
	a.tell(o.GetName(), true, func() { a.updates++; a.objects[o.GetName()] = o.GetResourceVersion() }, "updated")
}

func (a *account) deleted(name string) {
	a.tell(name, true, func() { a.deletes++; delete(a.objects, name) }, "deleted")
}

func (a *account) String() string {
	return fmt.Sprintf("%d adds, %d updates, %d deletes", a.adds, a.updates, a.deletes)
}

// wait blocks until the handler and the lister know exactly what is wanted.
func (a *account) wait(ctx context.Context, want map[string]string, listed func() (map[string]string, error)) error {
	for {
		a.mu.Lock()
		changed := a.changed
		told := difference(want, a.objects)
		err := a.err
		a.mu.Unlock()
		if err != nil {
			return err
		}
		have, err := listed()
		if err != nil {
			return err
		}
		lists := difference(want, have)
		if told == "" && lists == "" {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("the handler: %s; the lister: %s: %w", told, lists, ctx.Err())
		}
	}
}

func difference(want, have map[string]string) string {
	for name, version := range want {
		if have[name] != version {
			return fmt.Sprintf("%s is at %q, not %q", name, have[name], version)
		}
	}
	for name := range have {
		if _, ok := want[name]; !ok {
			return name + " is not on the server"
		}
	}
	return ""
}

// writer changes pods and config maps of one name together.
type writer struct {
	ctx    context.Context
	client versioned.Interface
	err    error
}

func (w *writer) create(prefix string, n int) {
	for i := range n {
		meta := metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", prefix, i), Namespace: namespace}
		_, err1 := w.client.CoreV1().Pods(namespace).Create(w.ctx, &corev1.Pod{
			ObjectMeta: meta,
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/nothing"}}},
		}, metav1.CreateOptions{})
		_, err2 := w.client.CoreV1().ConfigMaps(namespace).Create(w.ctx, &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"k": "v"}}, metav1.CreateOptions{})
		w.err = errors.Join(w.err, err1, err2)
	}
}

func (w *writer) update(prefix string, from, to int) {
	for i := from; i < to; i++ {
		name := fmt.Sprintf("%s-%d", prefix, i)
		pod, err := w.client.CoreV1().Pods(namespace).Get(w.ctx, name, metav1.GetOptions{})
		if err == nil {
			metav1.SetMetaDataLabel(&pod.ObjectMeta, "step", "updated")
			_, err = w.client.CoreV1().Pods(namespace).Update(w.ctx, pod, metav1.UpdateOptions{})
		}
		configMap, err2 := w.client.CoreV1().ConfigMaps(namespace).Get(w.ctx, name, metav1.GetOptions{})
		if err2 == nil {
			configMap.Data["k"] = "updated"
			_, err2 = w.client.CoreV1().ConfigMaps(namespace).Update(w.ctx, configMap, metav1.UpdateOptions{})
		}
		w.err = errors.Join(w.err, err, err2)
	}
}

func (w *writer) delete(prefix string, from, to int) {
	now := int64(0)
	for i := from; i < to; i++ {
		name := fmt.Sprintf("%s-%d", prefix, i)
		w.err = errors.Join(w.err,
			w.client.CoreV1().Pods(namespace).Delete(w.ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &now}),
			w.client.CoreV1().ConfigMaps(namespace).Delete(w.ctx, name, metav1.DeleteOptions{}))
	}
}
