package clientsource_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/runtime/listwatch"
)

// tap records the bytes that a server reads and writes.
type tap struct {
	net.Listener
	mu    sync.Mutex
	conns []*tapped
}

func (l *tap) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	conn := &tapped{Conn: c, mu: &l.mu}
	l.conns = append(l.conns, conn)
	return conn, nil
}

// taken returns the requests and the responses since the last call, one connection after the other.
func (l *tap) taken() (requests, responses string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		requests += c.in.String()
		responses += c.out.String()
	}
	l.conns = nil
	return requests, responses
}

type tapped struct {
	net.Conn
	mu      *sync.Mutex
	in, out bytes.Buffer
}

func (c *tapped) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in.Write(p[:n])
	return n, err
}

func (c *tapped) Write(p []byte) (int, error) {
	c.mu.Lock()
	c.out.Write(p)
	c.mu.Unlock()
	return c.Conn.Write(p)
}

// answer is a server's handler: lists, watches, errors, compressed bodies, writes and upgrades.
func answer(w http.ResponseWriter, r *http.Request) {
	w.Header()["Date"] = nil
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	query := r.URL.Query()
	switch {
	case r.Header.Get("Upgrade") != "":
		upgrade(w)
	case query.Get("watch") != "":
		for range 3 {
			io.WriteString(w, event("ADDED", watchedMap))
			w.(http.Flusher).Flush()
		}
	case query.Get("continue") == "compressed":
		w.Header().Set("Content-Encoding", "gzip")
		compressed := gzip.NewWriter(w)
		io.WriteString(compressed, listHead+item("a")+"]}")
		compressed.Close()
	case query.Get("continue") == "gone":
		w.WriteHeader(http.StatusGone)
		io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}`)
	case r.Method != http.MethodGet:
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Audit-Id", fmt.Sprint(len(body)))
		io.WriteString(w, watchedMap)
	case r.URL.Path == "/api/v1/namespaces/ns/configmaps/a":
		io.WriteString(w, watchedMap)
	default:
		io.WriteString(w, listHead+item("a")+","+item("b")+"]}")
	}
}

// upgrade echoes a line.
func upgrade(w http.ResponseWriter) {
	conn, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	line, _ := buffered.ReadString('\n')
	io.WriteString(conn, line)
}

// program makes requests as a program without an informer of ours, through an HTTP client that may have the
// transport. It returns the results.
func program(t *testing.T, config *rest.Config) (got []string) {
	ctx := t.Context()
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	defer httpClient.CloseIdleConnections()
	note := func(result any, err error) {
		got = append(got, fmt.Sprintf("%T %+v %v", result, result, err))
	}
	typed, err := rest.RESTClientForConfigAndClient(config, httpClient)
	if err != nil {
		t.Fatal(err)
	}
	untyped, err := dynamic.NewForConfigAndClient(config, httpClient)
	if err != nil {
		t.Fatal(err)
	}
	partial, err := metadata.NewForConfigAndClient(config, httpClient)
	if err != nil {
		t.Fatal(err)
	}
	maps := func(r *rest.Request) *rest.Request { return r.Namespace("ns").Resource("configmaps") }
	with := func(r *rest.Request, opts metav1.ListOptions) *rest.Request {
		return maps(r).VersionedParams(&opts, scheme.ParameterCodec)
	}
	for _, page := range []string{"", "more", "compressed", "gone"} {
		note(with(typed.Get(), metav1.ListOptions{Continue: page}).Do(ctx).Get())
	}
	body := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	note(maps(typed.Get()).Name("a").Do(ctx).Get())
	note(maps(typed.Post()).Body(body).Do(ctx).Get())
	note(maps(typed.Put()).Name("a").Body(body).Do(ctx).Get())
	note(maps(typed.Patch(types.MergePatchType)).Name("a").Body([]byte(`{"data":{"k":"v"}}`)).Do(ctx).Get())
	note(maps(typed.Delete()).Name("a").Do(ctx).Get())
	note(maps(typed.Get()).DoRaw(ctx))
	resource := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	note(untyped.Resource(resource).List(ctx, metav1.ListOptions{}))
	note(partial.Resource(resource).List(ctx, metav1.ListOptions{}))

	watcher, err := with(typed.Get(), metav1.ListOptions{Watch: true}).Watch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for e := range watcher.ResultChan() {
		note(e.Object, nil)
	}
	note(upgraded(ctx, httpClient, config.Host))
	return got
}

// upgraded sends a line through an upgraded connection.
func upgraded(ctx context.Context, client *http.Client, host string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, host+"/exec", nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "echo")
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	conn, ok := resp.Body.(io.ReadWriteCloser)
	if !ok {
		return "", fmt.Errorf("the body is a %T", resp.Body)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "hello\n"); err != nil {
		return "", err
	}
	return bufio.NewReader(conn).ReadString('\n')
}

// TestTransportChangesNothing checks that, without an informer of ours, a program with the transport sends
// and receives the same bytes as one without it.
func TestTransportChangesNothing(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(answer))
	recorded := &tap{Listener: server.Listener}
	server.Listener = recorded
	server.Start()
	defer server.Close()
	config := func() *rest.Config {
		return &rest.Config{
			Host: server.URL, QPS: -1, APIPath: "/api", BearerToken: "token",
			ContentConfig: rest.ContentConfig{
				GroupVersion: &corev1.SchemeGroupVersion, NegotiatedSerializer: scheme.Codecs.WithoutConversion(),
			},
		}
	}
	got := program(t, config())
	requests, responses := recorded.taken()
	wrapped := config()
	wrapped.Wrap(listwatch.Wrap)
	if gotWrapped := program(t, wrapped); !reflect.DeepEqual(gotWrapped, got) {
		t.Errorf("with the transport:\n%q\nwithout:\n%q", gotWrapped, got)
	}
	requestsWrapped, responsesWrapped := recorded.taken()
	for _, said := range [][2]string{{requestsWrapped, requests}, {responsesWrapped, responses}} {
		if said[0] != said[1] {
			t.Errorf("with the transport:\n%s\nwithout:\n%s", said[0], said[1])
		}
	}
	if n := strings.Count(requests, "HTTP/1.1\r\n"); n != 14 || len(got) != 16 {
		t.Errorf("%d requests, %d results", n, len(got))
	}
}

// clients are clients without the transport and with it, of one server.
func clients(tb testing.TB, timeout time.Duration) (without, with *rest.RESTClient) {
	server := httptest.NewServer(http.HandlerFunc(answer))
	tb.Cleanup(server.Close)
	client := func(wrap bool) *rest.RESTClient {
		config := &rest.Config{Host: server.URL, QPS: -1, APIPath: "/api", Timeout: timeout}
		// All constructors of clientsets set it, by a transport. Without a transport around its own, net/http
		// has a cheaper way to time out, which saves 13 allocations.
		config.UserAgent = rest.DefaultKubernetesUserAgent()
		config.GroupVersion = &corev1.SchemeGroupVersion
		config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
		if wrap {
			config.Wrap(listwatch.Wrap)
		}
		client, err := rest.RESTClientFor(config)
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(client.Client.CloseIdleConnections)
		return client
	}
	return client(false), client(true)
}

func get(tb testing.TB, client *rest.RESTClient) {
	request := client.Get().Namespace("ns").Resource("configmaps").Name("a")
	if err := request.Do(tb.Context()).Error(); err != nil {
		tb.Error(err)
	}
}

// TestTransportUnusedAllocations checks that the transport adds at most 3 allocations to a request that isn't
// of a source, also with a timeout.
func TestTransportUnusedAllocations(t *testing.T) {
	for _, timeout := range []time.Duration{0, time.Minute} {
		without, with := clients(t, timeout)
		before := testing.AllocsPerRun(300, func() { get(t, without) })
		after := testing.AllocsPerRun(300, func() { get(t, with) })
		if after > before+3 {
			t.Errorf("timeout %s: %v allocations a request with the transport, %v without", timeout, after, before)
		}
	}
}

// BenchmarkTransportUnused sends a request of client-go, with and without the transport. The allocations
// of the server count, too.
func BenchmarkTransportUnused(b *testing.B) {
	without, with := clients(b, 0)
	for name, client := range map[string]*rest.RESTClient{"ours": with, "client-go": without} {
		b.Run("get/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				get(b, client)
			}
		})
	}
}
