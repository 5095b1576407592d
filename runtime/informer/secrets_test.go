package informer_test

import (
	"context"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/gen/client"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

const (
	plantedToken    = "planted.t0ken.4711"
	plantedPassword = "planted-passw0rd-4711"
	plantedValue    = "planted-value-4711"
	plantedNumber   = "47110815471108154711"
)

// planted returns the secret texts in all forms in which they might be printed.
func planted() (forms []string) {
	for _, secret := range []string{plantedToken, plantedPassword, plantedValue, plantedNumber} {
		forms = append(forms, secret, base64.StdEncoding.EncodeToString([]byte(secret)),
			strings.Trim(fmt.Sprint([]byte(secret)), "[]"), fmt.Sprintf("%x", secret))
	}
	return append(forms, base64.StdEncoding.EncodeToString([]byte("me:"+plantedPassword)))
}

// paper collects everything that is printed.
type paper struct {
	mu   sync.Mutex
	text strings.Builder
}

func (p *paper) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(text)
}

func (p *paper) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// printing collects all logs up to a level, and utilruntime's errors and panics, in a paper.
func printing(t *testing.T, level int) *paper {
	p := &paper{}
	state, handlers := klog.CaptureState(), utilruntime.ErrorHandlers
	t.Cleanup(func() {
		utilruntime.ErrorHandlers = handlers
		state.Restore()
	})
	klog.ClearLogger()
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{
		"v": fmt.Sprint(level), "logtostderr": "false", "alsologtostderr": "false", "stderrthreshold": "FATAL",
	} {
		if err := flags.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	klog.SetOutput(p)
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{
		func(ctx context.Context, err error, msg string, keysAndValues ...any) {
			klog.FromContext(ctx).Error(err, msg, keysAndValues...)
		},
	}
	return p
}

// inMemory is a transport to a server in this process. Other hosts can't be reached.
type inMemory struct{ http.Handler }

const serverName = "server.example"

func (m inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != serverName {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("no route to " + r.URL.Host)}
	}
	recorder := httptest.NewRecorder()
	m.ServeHTTP(recorder, r)
	response := recorder.Result()
	response.Request = r
	if r.URL.Query().Get("watch") != "" && response.StatusCode == http.StatusOK {
		// A watch that ended would be opened again at once, and deliver the same events.
		response.Body = &open{Reader: response.Body, closed: make(chan struct{})}
	}
	return response, nil
}

// open is a body that has no end before it is closed.
type open struct {
	io.Reader
	once   sync.Once
	closed chan struct{}
}

func (o *open) Read(p []byte) (int, error) {
	n, err := o.Reader.Read(p)
	if n == 0 && err == io.EOF {
		<-o.closed
	}
	return n, err
}

func (o *open) Close() error {
	o.once.Do(func() { close(o.closed) })
	return nil
}

// secretObject returns a Secret with an additional JSON member.
func secretObject(version int, more string) string {
	return fmt.Sprintf(`{"kind":"Secret","apiVersion":"v1","metadata":{"name":"s","namespace":"ns",`+
		`"resourceVersion":"%d","annotations":{"last":"%s"}},"data":{"password":"%s"},"stringData":{"p":"%s"}%s}`,
		version, plantedValue, base64.StdEncoding.EncodeToString([]byte(plantedValue)), plantedValue, more)
}

func secretList(items string) string {
	return `{"kind":"SecretList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[` + items + `]}`
}

func secretEvent(kind, object string) string {
	return fmt.Sprintf(`{"type":"%s","object":%s}`, kind, object) + "\n"
}

// broken are members that make a Secret invalid, or end it early.
var broken = []string{
	`,"metadata":{"creationTimestamp":"` + plantedValue + `"}`,
	`,"metadata":{"generation":` + plantedNumber + `}`,
	`,"metadata":{"name":` + plantedNumber + `}`,
	`,"metadata":{"labels":{"a":["` + plantedValue + `"]}}`,
	`,"data":{"a":"` + plantedValue + `!"}`,
	`,"data":{"a":` + plantedNumber + `}`,
	`,"data":"` + plantedValue + `"`,
	`,"immutable":"` + plantedValue + `"`,
	`,"immutable":` + plantedNumber,
	`,"type":"` + plantedValue + `\x"`,
	`,"type":"` + plantedValue + "\n" + `"`,
	`,"type":"` + plantedValue,
	`,"a":1e` + plantedNumber,
}

// answer is a response of the server.
type answer struct {
	status int
	header map[string]string
	body   string
}

func (a answer) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	if a.status != 0 {
		w.WriteHeader(a.status)
	}
	w.Write([]byte(a.body))
}

// exchange is the response to a list, and that to the watch that follows.
type exchange struct {
	list, watch answer
	// setUp changes the informer before it runs.
	setUp func(cache.SharedIndexInformer) error
}

// exchanges are successes and failures of all kinds, in which the server sends all secret texts.
func exchanges() map[string]exchange {
	status := func(code int, reason string) string {
		return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"%s","code":%d,`+
			`"message":"what is Bearer %s?","details":{"causes":[{"message":"and %s?"}]}}`,
			reason, code, plantedToken, plantedToken)
	}
	html := "<html>You sent: Authorization: Bearer " + plantedToken + "</html>"
	good := answer{body: secretList(secretObject(4, ""))}
	events := answer{body: secretEvent("MODIFIED", secretObject(6, "")) +
		secretEvent("DELETED", secretObject(7, "")) + secretEvent("ADDED", secretObject(8, "")) +
		secretEvent("BOOKMARK", secretObject(9, ""))}
	header := func(name, value string) map[string]string { return map[string]string{name: value} }
	text := header("Content-Type", "text/html")
	redirect := func(to string) exchange {
		location := header("Location", to+"/?token="+plantedToken)
		return exchange{list: answer{status: http.StatusFound, header: location}}
	}
	all := map[string]exchange{
		"success":           {list: good, watch: events},
		"unknown kind":      {list: answer{body: strings.Replace(good.body, "SecretList", plantedToken, 1)}},
		"other kind":        {list: answer{body: strings.Replace(good.body, "SecretList", "ConfigMapList", 1)}},
		"unknown version":   {list: answer{body: strings.Replace(good.body, `"v1"`, `"`+plantedToken+`"`, 1)}},
		"page of a proxy":   {list: answer{header: text, body: html}},
		"list as text":      {list: answer{header: text, body: good.body}},
		"token as a type":   {list: answer{header: header("Content-Type", plantedToken+"/x")}},
		"status":            {list: answer{body: status(400, "BadRequest")}},
		"cut list":          {list: answer{body: good.body[:len(good.body)-40]}},
		"redirect":          redirect("http://elsewhere"),
		"redirect in place": redirect(""),
		"warning":           {list: answer{header: header("Warning", `299 - "`+plantedToken+`"`), body: good.body}},
		"unknown encoding":  {list: answer{header: header("Content-Encoding", plantedToken), body: good.body}},
		"error event":       {list: good, watch: answer{body: secretEvent("ERROR", status(500, "InternalError"))}},
		"odd error event":   {list: good, watch: answer{body: secretEvent("ERROR", secretObject(6, ""))}},
		"unknown event":     {list: good, watch: answer{body: secretEvent(plantedToken, secretObject(6, ""))}},
		"other object": {list: good, watch: answer{body: secretEvent("ADDED",
			strings.Replace(secretObject(6, ""), `"Secret"`, `"Pod"`, 1))}},
		"unknown object": {list: good, watch: answer{body: secretEvent("ADDED",
			strings.Replace(secretObject(6, ""), `"Secret"`, `"`+plantedToken+`"`, 1))}},
		"status as object":   {list: good, watch: answer{body: secretEvent("ADDED", status(500, "InternalError"))}},
		"watch as text":      {list: good, watch: answer{header: text, body: html}},
		"failing transform":  {list: good, watch: events, setUp: transformed(errors.New("refused"))},
		"panicking handler":  {list: good, watch: events, setUp: handled(func(any) { panic("lost") })},
		"handler with a bug": {list: good, watch: events, setUp: handled(func(any) { **new(*int)++ })},
		"handler that panics with the object": {list: good, watch: events,
			setUp: func(i cache.SharedIndexInformer) error {
				_, err := informer.AddEventHandler(i, cache.ResourceEventHandlerFuncs{
					AddFunc: func(obj any) { panic(obj) }}, informer.HandlerOptions{ContainPanics: true})
				return err
			}},
		"changed object": {list: good, setUp: func(i cache.SharedIndexInformer) error {
			return errors.Join(informer.Configure(i, informer.Options{MutationSample: 1}), handled(spoil)(i))
		}},
	}
	if raceDetector {
		delete(all, "changed object") // changed on purpose while the detector of mutations reads it
	}
	for i, member := range broken {
		object := secretObject(6, member)
		all[fmt.Sprint("broken item ", i)] = exchange{list: answer{body: secretList(object)}}
		all[fmt.Sprint("second broken item ", i)] = exchange{
			list: answer{body: secretList(secretObject(4, "") + "," + object)}}
		all[fmt.Sprint("broken event ", i)] = exchange{list: good,
			watch: answer{body: secretEvent("ADDED", object)}}
		all[fmt.Sprint("second broken event ", i)] = exchange{list: good,
			watch: answer{body: secretEvent("ADDED", secretObject(6, "")) + secretEvent("ADDED", object)}}
	}
	for code, reason := range map[int]string{400: "BadRequest", 401: "Unauthorized", 403: "Forbidden",
		404: "NotFound", 410: "Expired", 429: "TooManyRequests", 500: "InternalError", 503: "ServiceUnavailable",
		504: "Timeout"} {
		all[fmt.Sprint(code, " with a status")] = exchange{list: answer{status: code, body: status(code, reason)}}
		all[fmt.Sprint(code, " with a page")] = exchange{list: answer{status: code, header: text, body: html}}
		all[fmt.Sprint(code, " with nothing known")] = exchange{list: answer{status: code, body: html}}
		all[fmt.Sprint(code, " with a password")] = exchange{list: answer{status: code, header: text,
			body: "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("me:"+plantedPassword)) +
				", which is " + plantedPassword}}
		all[fmt.Sprint(code, " of a watch")] = exchange{list: good,
			watch: answer{status: code, body: status(code, reason)}}
	}
	return all
}

func transformed(err error) func(cache.SharedIndexInformer) error {
	return func(i cache.SharedIndexInformer) error {
		return i.SetTransform(func(any) (any, error) { return nil, err })
	}
}

func handled(f func(obj any)) func(cache.SharedIndexInformer) error {
	return func(i cache.SharedIndexInformer) error {
		_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: f, DeleteFunc: f,
			UpdateFunc: func(_, obj any) { f(obj) }})
		return err
	}
}

// spoil changes a cached object, which is forbidden.
func spoil(obj any) {
	switch obj := obj.(type) {
	case *corev1.Secret:
		obj.Data["password"] = []byte("changed")
		obj.StringData["p"] = "changed"
	case *unstructured.Unstructured:
		obj.Object["data"] = plantedValue
	}
}

// secretInformers returns constructors of informers of Secrets, whose clients use config.
func secretInformers(config rest.Config) map[string]func() cache.SharedIndexInformer {
	typed := func() gen.ResourceClient[*corev1.SecretList] {
		group := client.Group{Version: corev1.SchemeGroupVersion, APIPath: "/api", Scheme: scheme.Scheme,
			Codecs: scheme.Codecs}
		c := client.Must(group.RESTClient(&config, client.Must(rest.HTTPClientFor(&config))))
		return client.NewWithList[*corev1.Secret, *corev1.SecretList](c, scheme.ParameterCodec, "secrets", "ns")
	}
	return map[string]func() cache.SharedIndexInformer{
		"streamed": func() cache.SharedIndexInformer {
			c := typed()
			return gen.NewShared[*corev1.Secret](func() gen.ResourceClient[*corev1.SecretList] { return c },
				gen.Options{Client: listsOnly{}})
		},
		"watch-list": func() cache.SharedIndexInformer {
			c := typed()
			return gen.NewShared[*corev1.Secret](
				func() gen.ResourceClient[*corev1.SecretList] { return c }, gen.Options{})
		},
		"plain": func() cache.SharedIndexInformer {
			c := typed()
			i := gen.NewShared[*corev1.Secret](func() gen.ResourceClient[*corev1.SecretList] { return c },
				gen.Options{Client: listsOnly{}})
			if err := informer.Configure(i, informer.Options{NoStreams: true}); err != nil {
				panic(err)
			}
			return i
		},
		"dynamic": func() cache.SharedIndexInformer {
			wrapped := rest.CopyConfig(&config)
			wrapped.Wrap(listwatch.Wrap)
			c := dynamic.NewForConfigOrDie(wrapped).Resource(corev1.SchemeGroupVersion.WithResource("secrets"))
			return gen.NewShared[*unstructured.Unstructured](
				func() gen.ResourceClient[*unstructured.UnstructuredList] { return c.Namespace("ns") },
				gen.Options{Client: listsOnly{}})
		},
	}
}

// TestNothingSecretIsPrinted checks that credentials, and the content of objects, are in no log, error,
// status or panic, whatever the server answers. Each level of klog includes the lower ones; from level 8 on
// client-go prints bodies.
func TestNothingSecretIsPrinted(t *testing.T) {
	survivePanics(t)
	forms := planted()
	for _, level := range []int{0, 7} {
		for name, of := range exchanges() {
			config := rest.Config{Host: "http://" + serverName, QPS: -1, BearerToken: plantedToken,
				ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
			if strings.HasSuffix(name, "password") {
				config.BearerToken, config.Username, config.Password = "", "me", plantedPassword
			}
			config.Transport = inMemory{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				query := r.URL.Query()
				switch {
				case query.Get("watch") == "":
					of.list.write(w)
				case query.Get("sendInitialEvents") == "true":
					(&answer{body: secretEvent("ADDED", secretObject(4, "")) + secretEvent("BOOKMARK",
						`{"kind":"Secret","apiVersion":"v1","metadata":{"resourceVersion":"5","annotations":`+
							`{"k8s.io/initial-events-end":"true"}}}`) + of.watch.body}).write(w)
				default:
					of.watch.write(w)
				}
			})}
			for kind, newInformer := range secretInformers(config) {
				t.Run(fmt.Sprintf("%s/%s/%d", name, kind, level), func(t *testing.T) {
					printed := printing(t, level)
					synctest.Test(t, func(t *testing.T) {
						i := newInformer()
						if of.setUp != nil {
							if err := of.setUp(i); err != nil {
								t.Fatal(err)
							}
						}
						ctx, stop := context.WithCancel(t.Context())
						var running sync.WaitGroup
						running.Go(func() { i.RunWithContext(ctx) })
						bubble.Advance(time.Minute)
						status, _ := informer.StatusOf(i)
						fmt.Fprintf(printed, "%+v\n", status)
						if e := status.NotSynced(); e != nil {
							fmt.Fprintf(printed, "%v\n%+v\n", e, e.Err)
						}
						stop()
						running.Wait()
					})
					klog.Flush()
					text := printed.String()
					for _, form := range forms {
						if at := strings.Index(text, form); at >= 0 {
							t.Errorf("%q in:\n%s", form, text[max(0, at-1000):min(len(text), at+500)])
						}
					}
					if level > 0 && !strings.Contains(text, "Starting reflector") {
						t.Errorf("too little was printed:\n%s", text)
					}
				})
			}
		}
	}
}
