package ownwrites_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/ownwrites"
	"github.com/kubewright/kubewright/runtime/queue"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

type (
	server      = runtimetest.Server[*corev1.ConfigMap, *corev1.ConfigMapList]
	mapInformer = cache.TypedSharedIndexInformer[*corev1.ConfigMap]
)

var configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")

func newServer() *server { return runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]() }

func newInformer(s gen.ResourceClient[*corev1.ConfigMapList], tweaks ...func(*gen.Options)) mapInformer {
	o := gen.Options{Resource: configMaps}
	for _, tweak := range tweaks {
		tweak(&o)
	}
	return gen.NewShared[*corev1.ConfigMap](
		func() gen.ResourceClient[*corev1.ConfigMapList] { return s }, o)
}

func withLabels(selector string) func(*gen.Options) {
	return func(o *gen.Options) {
		o.TweakListOptions = func(l *metav1.ListOptions) { l.LabelSelector = selector }
	}
}

func withFields(selector string) func(*gen.Options) {
	return func(o *gen.Options) {
		o.TweakListOptions = func(l *metav1.ListOptions) { l.FieldSelector = selector }
	}
}

// start runs an informer, until the end of the bubble's test or a call of stop.
func start(t *testing.T, i cache.SharedIndexInformer) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { i.RunWithContext(ctx) })
	stop = func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(stop)
	return stop
}

// rig is a tracker with a queue of strings, and an HTTP client for the API.
type rig struct {
	*testing.T
	tracker *ownwrites.Tracker
	queue   *queue.Queue[string]
	client  *http.Client
	api     *api
	counts  counts
	log     bytes.Buffer
}

// counts are the metrics of a gate.
type counts struct {
	mu             sync.Mutex
	waits          []float64
	bound, unknown int
}

type count struct {
	c   *counts
	add func(float64)
}

func (m count) Inc()              { m.Observe(1) }
func (m count) Observe(v float64) { m.c.mu.Lock(); defer m.c.mu.Unlock(); m.add(v) }

func (c *counts) metrics() *queue.Metrics {
	none := ignored{}
	return &queue.Metrics{
		Depth: none, Adds: none, Latency: none, WorkDuration: none, UnfinishedWork: none, LongestRunning: none,
		Retries:        none,
		ParkedDuration: count{c, func(v float64) { c.waits = append(c.waits, v) }},
		Late:           count{c, func(float64) { c.bound++ }},
		UnknownWrites:  count{c, func(float64) { c.unknown++ }},
	}
}

// ignored is a metric that nobody reads.
type ignored struct{}

func (ignored) Inc()            {}
func (ignored) Dec()            {}
func (ignored) Set(float64)     {}
func (ignored) Observe(float64) {}

func newRig(t *testing.T, s *server, informers ...cache.SharedIndexInformer) *rig {
	t.Helper()
	return newRigWith(t, &ownwrites.Tracker{}, s, informers...)
}

// newRigWith returns a rig with a tracker, and a queue with the rig's metrics. The tracker logs to the rig.
func newRigWith(
	t *testing.T, tracker *ownwrites.Tracker, s *server, informers ...cache.SharedIndexInformer,
) *rig {
	t.Helper()
	r := &rig{T: t, tracker: tracker, api: &api{server: s}}
	logger := newLogger(&r.log)
	r.tracker.Logger = &logger
	if err := r.tracker.Add(informers...); err != nil {
		t.Fatal(err)
	}
	r.queue = ownwrites.NewQueue(r.tracker, queue.Config[string]{Metrics: r.counts.metrics()})
	t.Cleanup(r.queue.ShutDown)
	r.client = &http.Client{Transport: r.tracker.Transport(r.api)}
	return r
}

// newLogger returns a logger that writes the messages and values as lines.
func newLogger(to *bytes.Buffer) klog.Logger { return klog.New(&sink{to: to}) }

// send sends a request in the context of a key, and reads the answer.
func (r *rig) send(key, method, path string, body any) (int, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			r.Fatal(err)
		}
	}
	ctx := context.Background()
	if key != "" {
		ctx = r.queue.Context(ctx, key)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://api"+path, bytes.NewReader(text))
	if err != nil {
		r.Fatal(err)
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = io.ReadAll(resp.Body)
	return resp.StatusCode, err
}

// parked reports whether a key that is added now is parked. It takes the key if it isn't.
func (r *rig) parked(key string) bool {
	r.queue.Add(key)
	return !r.takes(key)
}

// takes takes a key, if one is ready.
func (r *rig) takes(key string) bool {
	if r.queue.Len() == 0 {
		return false
	}
	item, _ := r.queue.Get()
	if item != key {
		r.Errorf("Get is %q, want %q", item, key)
	}
	r.queue.Done(item)
	return true
}

// api is an API server of config maps over HTTP, without a network. Lists and watches don't go through it.
type api struct {
	server *server
	mu     sync.Mutex
	// edits change each answer, in this order. Those that are nil are left out.
	edits []edit
	// wrote, if not nil, is called after each write by HTTP, with its By header, the versions of the object
	// afterwards and before, both objects, and whether the server has compared the version.
	wrote func(by, version, base string, before, after *corev1.ConfigMap, checked bool)
	// restored, if not nil, is called when the server was replaced. keepsLast refuses to delete the last object
	// of a namespace.
	restored  func()
	keepsLast bool
}

// edit changes an answer, which is in JSON before the first edit.
type edit func(*http.Response) (*http.Response, error)

func (a *api) RoundTrip(req *http.Request) (resp *http.Response, err error) {
	resp = a.serve(req)
	for _, edit := range a.edits {
		if edit != nil && err == nil {
			resp, err = edit(resp)
		}
	}
	if err == nil {
		resp.Request = req
	}
	return resp, err
}

func (a *api) serve(req *http.Request) *http.Response {
	_, below, _ := strings.Cut(req.URL.Path, "/api/v1/namespaces/")
	steps := strings.Split(below, "/") // NAMESPACE/configmaps/NAME/SUBRESOURCE
	namespace := steps[0]
	a.mu.Lock()
	defer a.mu.Unlock()
	failure := metav1.Status{Status: metav1.StatusFailure}
	success := metav1.Status{Status: metav1.StatusSuccess}
	var text []byte
	if req.Body != nil {
		text, _ = io.ReadAll(req.Body)
	}
	if strings.Contains(req.URL.RawQuery+string(text), "dryRun") {
		found, _ := a.server.Find(namespace, steps[2])
		found.APIVersion, found.Kind, found.ResourceVersion = "v1", "ConfigMap", a.server.Version()+"0"
		return answer(http.StatusOK, found)
	}
	wrote := func(version string, before, after *corev1.ConfigMap, checked bool) {
		if a.wrote != nil {
			base := ""
			if before != nil {
				base = before.ResourceVersion
			}
			a.wrote(req.Header.Get("By"), version, base, before, after, checked)
		}
	}
	switch {
	case req.Method == http.MethodPatch: // Nobody reads patches here.
		obj, _ := a.server.Find(namespace, steps[2])
		obj.ResourceVersion = a.server.Update(obj)
		obj.APIVersion, obj.Kind = "v1", "ConfigMap"
		return answer(http.StatusOK, obj)
	case req.Method == http.MethodPost || req.Method == http.MethodPut:
		obj := &corev1.ConfigMap{}
		if err := json.Unmarshal(text, obj); err != nil {
			panic(err)
		}
		obj.Namespace = namespace
		found, exists := a.server.Find(namespace, obj.Name)
		checked := obj.ResourceVersion != ""
		switch {
		case exists == (req.Method == http.MethodPost),
			exists && checked && obj.ResourceVersion != found.ResourceVersion:
			return status(http.StatusConflict, failure)
		case exists && obj.Annotations["unchanged"] != "":
			obj = found
		case exists:
			obj.ResourceVersion, obj.UID = a.server.Update(obj), found.UID
			wrote(obj.ResourceVersion, found, obj, checked)
		default:
			obj.ResourceVersion = a.server.Create(obj)
			created, _ := a.server.Find(namespace, obj.Name)
			obj.UID = created.UID
			wrote(obj.ResourceVersion, nil, obj, true)
		}
		obj.APIVersion, obj.Kind = "v1", "ConfigMap"
		return answer(http.StatusOK, obj)
	case len(steps) == 2:
		return status(http.StatusOK, success)
	}
	found, exists := a.server.Find(namespace, steps[2])
	if !exists {
		return status(http.StatusNotFound, failure)
	}
	var options metav1.DeleteOptions
	_ = json.Unmarshal(text, &options)
	if p := options.Preconditions; p != nil && p.UID != nil && *p.UID != found.UID || a.isKept(namespace) {
		return status(http.StatusConflict, failure)
	}
	wrote(a.server.Delete(namespace, steps[2]), found, nil, false)
	success.Details = &metav1.StatusDetails{Name: steps[2], UID: found.UID}
	return status(http.StatusOK, success)
}

// direct calls do with the server's lock.
func (a *api) direct(do func(*server)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	do(a.server)
}

// restore replaces the server by one with lower versions and those objects for which kept returns true.
func (a *api) restore(kept func(*corev1.ConfigMap) bool, lags ...*lagging) {
	a.mu.Lock()
	defer a.mu.Unlock()
	before, after := a.server, newServer()
	for range 2000 { // UIDs are numbers. Those of both servers have to differ.
		after.Create(configMap("none"))
		after.Delete("shop", "none")
	}
	for _, obj := range before.Objects() {
		if kept(obj) {
			after.Create(obj)
		}
	}
	after.Compact()
	a.server = after
	if a.restored != nil {
		a.restored()
	}
	for _, l := range lags {
		l.mu.Lock()
		l.server = after
		l.mu.Unlock()
	}
	before.CloseWatches()
}

// isKept reports whether a namespace has one object, which is kept.
func (a *api) isKept(namespace string) bool {
	n := 0
	for _, obj := range a.server.Objects() {
		if obj.Namespace == namespace {
			n++
		}
	}
	return a.keepsLast && n == 1
}

func status(code int, s metav1.Status) *http.Response {
	s.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	return answer(code, s)
}

func answer(code int, body any) *http.Response {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return textAnswer(code, "application/json", text)
}

func textAnswer(code int, contentType string, text []byte) *http.Response {
	return &http.Response{
		StatusCode: code, Header: http.Header{"Content-Type": {contentType}},
		Body: io.NopCloser(bytes.NewReader(text)), ContentLength: int64(len(text)),
	}
}

// cut makes an answer end after n bytes.
func cut(resp *http.Response, n int) *http.Response {
	text, _ := io.ReadAll(resp.Body)
	resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(text[:min(n, len(text))]),
		failing{errors.New("the connection was reset")}))
	return resp
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func configMap(name string, labels ...string) *corev1.ConfigMap {
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	for _, l := range labels {
		metav1.SetMetaDataLabel(&m.ObjectMeta, l, "yes")
	}
	return m
}

// readAll reads an answer, as clients do.
func readAll(resp *http.Response) error {
	defer func() { _ = resp.Body.Close() }()
	_, err := io.ReadAll(resp.Body)
	return err
}
