package ownwrites_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"

	gen "github.com/kubewright/kubewright/runtime/gen/informer"
)

const path = "/api/v1/namespaces/shop/configmaps"

// rule is a row of the table of what a key waits for.
type rule struct {
	// before are the objects that the informer shows before the write.
	before  []*corev1.ConfigMap
	options func(*gen.Options)
	// noKey sends the request in another context than that of the key.
	noKey             bool
	method, path      string
	body              any
	edit              edit // of the answer in JSON
	wire              edit // of the encoded answer
	parks             bool
	unknown           int
	logged            string
	notStarted, stops bool
}

// answers makes the server answer with a body in place of its own.
func answers(code int, body any) edit {
	return func(resp *http.Response) (*http.Response, error) {
		_ = resp.Body.Close()
		return answer(code, body), nil
	}
}

// withVersion answers with a body that is given the version of the server.
func withVersion(s func() string, body metav1.Object) edit {
	return func(resp *http.Response) (*http.Response, error) {
		_ = resp.Body.Close()
		body.SetResourceVersion(s())
		return answer(http.StatusOK, body), nil
	}
}

func rules(s *server) map[string]rule {
	one := []*corev1.ConfigMap{configMap("one")}
	deleted := configMap("one")
	deleted.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
	deleted.UID = "uid-1"
	terminating := deleted.DeepCopy()
	terminating.DeletionTimestamp = ptr.To(metav1.Now())
	removed := terminating.DeepCopy() // as servers answer: with the version before
	removed.CreationTimestamp, removed.ResourceVersion = metav1.Now(), "1"
	removed.DeletionGracePeriodSeconds, removed.Labels = ptr.To(int64(0)), map[string]string{"a": "b"}
	finalized := removed.DeepCopy()
	finalized.Finalizers = []string{"example.com/other"}
	graced := removed.DeepCopy()
	graced.DeletionGracePeriodSeconds = ptr.To(int64(30))
	large := configMap("one")
	large.Data = map[string]string{"large": strings.Repeat("x\"\\", 10_000)}
	opaque := deleted.DeepCopy()
	opaque.ResourceVersion = "opaque"
	token := configMap("one")
	token.TypeMeta = deleted.TypeMeta
	scale := &autoscalingv1.Scale{
		TypeMeta:   metav1.TypeMeta{APIVersion: "autoscaling/v1", Kind: "Scale"},
		ObjectMeta: metav1.ObjectMeta{Name: "one", Namespace: "shop", UID: "uid-1"},
	}
	evicted := metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess,
	}
	failure := metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
	}
	versioned := evicted
	return map[string]rule{
		"a create": {method: "POST", path: path, body: configMap("one"), parks: true},
		"an update": {before: one, method: "PUT", path: path + "/one", body: configMap("one"),
			parks: true},
		"a large answer": {before: one, method: "PUT", path: path + "/one", body: large, parks: true},
		"behind a prefix": {before: one, method: "PUT", path: "/clusters/api/v1" + path + "/one",
			body: configMap("one"), parks: true},
		"a scale": {before: one, method: "PUT", path: path + "/one/scale", body: configMap("one"),
			edit: withVersion(s.Version, scale), parks: true},
		"a deletion": {before: one, method: "DELETE", path: path + "/one", parks: true},
		"a deletion that answers with a version": {before: one, method: "DELETE", path: path + "/one",
			edit: func(*http.Response) (*http.Response, error) {
				versioned.ResourceVersion = s.Version()
				return answer(http.StatusOK, versioned), nil
			}, parks: true},
		"a deletion that answers with the object": {before: one, method: "DELETE", path: path + "/one",
			edit: answers(http.StatusOK, deleted), parks: true},
		"a deletion that finalizers delay": {before: one, method: "DELETE", path: path + "/one",
			edit: withVersion(s.Version, terminating), parks: true},
		"a deletion of what isn't in the cache": {before: one, options: withLabels("a"), method: "DELETE",
			path: path + "/one"},
		"the last finalizer is removed": {before: one, method: "PATCH", path: path + "/one",
			edit: func(resp *http.Response) (*http.Response, error) {
				s.Delete("shop", "one")
				return answers(http.StatusOK, removed)(resp)
			}, parks: true},
		"cut before finalizers": {before: one, method: "PATCH", path: path + "/one",
			edit: answers(http.StatusOK, finalized), wire: func(resp *http.Response) (*http.Response, error) {
				text, _ := io.ReadAll(resp.Body)
				resp.Body = io.NopCloser(bytes.NewReader(text))
				if at := bytes.Index(text, []byte(`"finalizers"`)); at > 0 { // not so in protobuf
					return cut(resp, at), nil
				}
				return resp, nil
			}},
		"a finalizer is removed": {before: one, method: "PATCH", path: path + "/one",
			edit: answers(http.StatusOK, finalized)},
		"what is deleted later is updated": {before: one, method: "PATCH", path: path + "/one",
			edit: answers(http.StatusOK, graced)},
		"an eviction": {before: one, method: "PUT", path: path + "/one/eviction", body: configMap("one"),
			edit: answers(http.StatusCreated, evicted)},
		"a token": {before: one, method: "PUT", path: path + "/one/token", body: configMap("one"),
			edit: answers(http.StatusCreated, token)},
		"a deletion of the collection": {before: one, method: "DELETE", path: path,
			edit: answers(http.StatusOK, evicted)},
		"a dry run": {before: one, method: "PUT", path: path + "/one?dryRun=All", body: configMap("one")},
		"a deletion that is a dry run": {before: one, method: "DELETE", path: path + "/one",
			body: metav1.DeleteOptions{DryRun: []string{"All"}}},
		"another context": {before: one, noKey: true, method: "PUT", path: path + "/one",
			body: configMap("one")},
		"another label": {options: withLabels("a"), method: "POST", path: path, body: configMap("one", "b")},
		"the label": {options: withLabels("a"), method: "POST", path: path, body: configMap("one", "a"),
			parks: true},
		"the label is lost": {before: []*corev1.ConfigMap{configMap("one", "a")}, options: withLabels("a"),
			method: "PUT", path: path + "/one", body: configMap("one", "b"), parks: true},
		"another namespace": {options: func(o *gen.Options) { o.Namespace = "other" }, method: "POST",
			path: path, body: configMap("one")},
		"another name": {options: withFields("metadata.name=two"), method: "POST", path: path,
			body: configMap("one")},
		"the name": {options: withFields("metadata.name=one,metadata.namespace!=other"), method: "POST",
			path: path, body: configMap("one"), parks: true},
		"refused": {before: one, method: "PUT", path: path + "/one", body: configMap("one"),
			edit: answers(http.StatusConflict, failure)},
		"failed": {before: one, method: "PUT", path: path + "/one", body: configMap("one"),
			edit: answers(http.StatusServiceUnavailable, failure), unknown: 1},
		"lost": {before: one, method: "PUT", path: path + "/one", body: configMap("one"),
			wire: func(*http.Response) (*http.Response, error) {
				return nil, errors.New("the connection was reset")
			}, unknown: 1},
		"cut": {before: one, method: "PUT", path: path + "/one", body: large,
			wire: func(resp *http.Response) (*http.Response, error) {
				return cut(resp, 20), nil
			}, unknown: 1},
		"ended early": {before: one, method: "PUT", path: path + "/one", body: large,
			wire: func(resp *http.Response) (*http.Response, error) {
				text, _ := io.ReadAll(resp.Body)
				return textAnswer(http.StatusOK, resp.Header.Get("Content-Type"), text[:20]), nil
			}, unknown: 1},
		"cut behind the metadata": {before: one, method: "PUT", path: path + "/one", body: large,
			wire: func(resp *http.Response) (*http.Response, error) {
				return cut(resp, 20_000), nil
			}, parks: true},
		"versions without an order": {before: one, method: "PUT", path: path + "/one", body: configMap("one"),
			edit: answers(http.StatusOK, opaque), logged: "its versions can't be compared"},
		"an unreadable answer": {before: one, method: "PUT", path: path + "/one", body: configMap("one"),
			wire: func(*http.Response) (*http.Response, error) {
				return textAnswer(http.StatusOK, "application/cbor", []byte{0xd9, 0xd9, 0xf7}), nil
			}, logged: "answers can't be read"},
		"an informer that isn't started": {notStarted: true, method: "POST", path: path,
			body: configMap("one"), logged: "it isn't running"},
		"a stopped informer": {stops: true, method: "POST", path: path, body: configMap("one"),
			logged: "it isn't running"},
		"an empty answer": {before: one, method: "PUT", path: path + "/one", body: configMap("one"),
			wire: func(*http.Response) (*http.Response, error) {
				return textAnswer(http.StatusOK, "application/json", nil), nil
			}},
	}
}

// TestRules checks what keys wait for: each row with answers in JSON, which arrive as a whole or byte by
// byte, and in protobuf.
func TestRules(t *testing.T) {
	for encoding, encode := range map[string]edit{"json": nil, "bytes": inBytes, "protobuf": inProtobuf} {
		for name := range rules(newServer()) {
			t.Run(encoding+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newServer()
					checkRule(t, s, rules(s)[name], encode)
				})
			})
		}
	}
}

func checkRule(t *testing.T, s *server, rule rule, encode edit) {
	for _, obj := range rule.before {
		s.Create(obj)
	}
	l := newLagging(s)
	if rule.options == nil {
		rule.options = func(*gen.Options) {}
	}
	i := newInformer(l, rule.options)
	r := newRig(t, s, i)
	r.api.edits = []edit{rule.edit, encode, rule.wire}
	stop := func() {}
	if !rule.notStarted {
		stop = start(t, i)
	}
	synctest.Wait()
	l.hold()
	if rule.stops {
		stop()
	}
	key := "key"
	if rule.noKey {
		key = ""
	}
	for range 2 { // What is logged once isn't logged twice.
		_, _ = r.send(key, rule.method, rule.path, rule.body)
		if rule.logged == "" {
			break
		}
	}
	if got := r.parked("key"); got != rule.parks {
		t.Errorf("parked: %t", got)
	}
	if other := r.parked("other"); other {
		t.Error("another key is parked")
	}
	l.flow()
	synctest.Wait()
	if rule.parks && !r.takes("key") {
		t.Error("the key is still parked when the cache shows the write")
	}
	r.counts.mu.Lock()
	defer r.counts.mu.Unlock()
	if r.counts.bound != 0 || r.counts.unknown != rule.unknown || (len(r.counts.waits) == 1) != rule.parks {
		t.Errorf("%d by the bound, %d unknown, waits %v", r.counts.bound, r.counts.unknown, r.counts.waits)
	}
	if n := strings.Count(r.log.String(), "\n"); n != min(len(rule.logged), 1) ||
		!strings.Contains(r.log.String(), rule.logged) {
		t.Errorf("the log has %q", r.log.String())
	}
}

// inBytes makes an answer arrive byte by byte.
func inBytes(resp *http.Response) (*http.Response, error) {
	resp.Body = struct {
		io.Reader
		io.Closer
	}{oneByte{resp.Body}, resp.Body}
	return resp, nil
}

type oneByte struct{ io.Reader }

func (o oneByte) Read(p []byte) (int, error) { return o.Reader.Read(p[:min(len(p), 1)]) }

// inProtobuf encodes an answer as protobuf.
func inProtobuf(resp *http.Response) (*http.Response, error) {
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	obj, _, err := scheme.Codecs.UniversalDeserializer().Decode(text, nil, nil)
	if err != nil {
		return nil, err
	}
	var encoded bytes.Buffer
	s := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	if err := s.Encode(obj, &encoded); err != nil {
		return nil, err
	}
	return textAnswer(resp.StatusCode, runtime.ContentTypeProtobuf, encoded.Bytes()), nil
}
