package compare

import (
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"

	ourkube "example.com/dropin/ours/clientset/kube"
	ourkubefake "example.com/dropin/ours/clientset/kube/fake"
	ours "example.com/dropin/ours/clientset/versioned"
	oursfake "example.com/dropin/ours/clientset/versioned/fake"
	upstreamkube "example.com/dropin/upstream/clientset/kube"
	upstreamkubefake "example.com/dropin/upstream/clientset/kube/fake"
	upstream "example.com/dropin/upstream/clientset/versioned"
	upstreamfake "example.com/dropin/upstream/clientset/versioned/fake"
)

// generated is a clientset that one of the two generators wrote.
type generated struct {
	iface   reflect.Type
	real    func(*rest.Config) any
	simple  func() recorder
	managed func() recorder
}

type recorder interface {
	Actions() []clienttesting.Action
	ClearActions()
}

// The clientsets of custom resources, and of Kubernetes' own with protobuf.
var clientsets = map[string]struct{ upstream, ours generated }{
	"custom": {
		generated{
			reflect.TypeFor[upstream.Interface](),
			func(c *rest.Config) any { return upstream.NewForConfigOrDie(c) },
			func() recorder { return upstreamfake.NewSimpleClientset() },
			func() recorder { return upstreamfake.NewClientset() },
		},
		generated{
			reflect.TypeFor[ours.Interface](),
			func(c *rest.Config) any { return ours.NewForConfigOrDie(c) },
			func() recorder { return oursfake.NewSimpleClientset() },
			func() recorder { return oursfake.NewClientset() },
		},
	},
	"kube": {
		generated{
			reflect.TypeFor[upstreamkube.Interface](),
			func(c *rest.Config) any { return upstreamkube.NewForConfigOrDie(c) },
			func() recorder { return upstreamkubefake.NewSimpleClientset() },
			func() recorder { return upstreamkubefake.NewClientset() },
		},
		generated{
			reflect.TypeFor[ourkube.Interface](),
			func(c *rest.Config) any { return ourkube.NewForConfigOrDie(c) },
			func() recorder { return ourkubefake.NewSimpleClientset() },
			func() recorder { return ourkubefake.NewClientset() },
		},
	},
}

// pairs pairs the calls of two clientsets, which must have the same calls.
func pairs(t *testing.T, upstream, ours []call) [][2]call {
	t.Helper()
	if len(upstream) < 100 || len(upstream) != len(ours) {
		t.Fatalf("upstream's clientset has %d methods, ours %d", len(upstream), len(ours))
	}
	matched := make([][2]call, len(upstream))
	for i, theirs := range upstream {
		if theirs.path != ours[i].path {
			t.Fatalf("upstream's clientset has %s where ours has %s", theirs.path, ours[i].path)
		}
		matched[i] = [2]call{theirs, ours[i]}
	}
	return matched
}

// request is what a server receives.
type request struct {
	Method, URL, Body string
	Header            http.Header
}

// TestRequests checks that each call sends the same request, if it sends one, and returns the same result,
// whether the server answers or refuses.
func TestRequests(t *testing.T) {
	for status, answer := range map[int]string{
		http.StatusOK:        `{"metadata":{"name":"answer","resourceVersion":"5"},"items":[{"metadata":{"name":"item"}}]}`,
		http.StatusForbidden: `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","reason":"Forbidden","code":403}`,
	} {
		var seen []request
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			seen = append(seen, request{r.Method, r.URL.RequestURI(), string(body), r.Header})
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			if r.URL.Query().Get("watch") == "" {
				io.WriteString(w, answer)
			}
		}))
		// Rate limits are off; they have a test of their own.
		config := &rest.Config{Host: server.URL, QPS: -1}
		for name, c := range clientsets {
			t.Run(name+" "+http.StatusText(status), func(t *testing.T) {
				matched := pairs(t, calls(c.upstream.real(config), c.upstream.iface), calls(c.ours.real(config), c.ours.iface))
				compare := func(t *testing.T, with arguments) {
					sent := 0
					for _, pair := range matched {
						seen = nil
						want, wantRequests := pair[0].do(with), seen
						seen = nil
						got, gotRequests := pair[1].do(with), seen
						if !reflect.DeepEqual(gotRequests, wantRequests) {
							t.Errorf("%s sends\n%+v\nupstream\n%+v", pair[0].path, gotRequests, wantRequests)
						}
						if !reflect.DeepEqual(got, want) {
							t.Errorf("%s returns\n%+v\nupstream\n%+v", pair[0].path, got, want)
						}
						sent += len(wantRequests)
					}
					t.Logf("%d requests compared", sent)
					if with.name == usual.name && sent < 100 {
						t.Errorf("only %d requests", sent)
					}
				}
				compare(t, usual)
				for what, with := range unusual {
					t.Run(what, func(t *testing.T) { compare(t, with) })
				}
			})
		}
		server.Close()
	}
}

// TestActions checks that each call of the fakes records the same actions and returns the same result, with
// and without field management. It runs in a bubble, where time stands still, because managed fields contain
// the time.
func TestActions(t *testing.T) {
	for name, c := range clientsets {
		for kind, fakes := range map[string][2]func() recorder{
			"simple":  {c.upstream.simple, c.ours.simple},
			"managed": {c.upstream.managed, c.ours.managed},
		} {
			t.Run(name+" "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					theirs, our := fakes[0](), fakes[1]()
					recorded := 0
					for _, pair := range pairs(t, calls(theirs, c.upstream.iface), calls(our, c.ours.iface)) {
						theirs.ClearActions()
						our.ClearActions()
						want, got := pair[0].do(usual), pair[1].do(usual)
						if !reflect.DeepEqual(our.Actions(), theirs.Actions()) {
							t.Errorf("%s records\n%+v\nupstream\n%+v", pair[0].path, our.Actions(), theirs.Actions())
						}
						// Upstream's managed fake doesn't know a resource that can't be guessed from the kind.
						switch unknown := "no matches for "; {
						case strings.HasPrefix(want.Err, unknown):
							if strings.HasPrefix(got.Err, unknown) {
								t.Errorf("%s returns %s", pair[0].path, got.Err)
							}
						case !reflect.DeepEqual(got, want):
							t.Errorf("%s returns\n%+v\nupstream\n%+v", pair[0].path, got, want)
						}
						recorded += len(theirs.Actions())
					}
					t.Logf("%d actions compared", recorded)
					if recorded < 100 {
						t.Errorf("only %d actions", recorded)
					}
				})
			})
		}
	}
}

// TestInterfaces checks that a client of a resource can be assigned to the other's interface.
func TestInterfaces(t *testing.T) {
	for name, c := range clientsets {
		for _, group := range methods(c.upstream.iface, "Discovery") {
			ourGroup, ok := c.ours.iface.MethodByName(group.Name)
			if !ok {
				t.Fatalf("%s: no %s", name, group.Name)
			}
			for _, getter := range methods(group.Type.Out(0), "RESTClient") {
				ourGetter, ok := ourGroup.Type.Out(0).MethodByName(getter.Name)
				if !ok {
					t.Fatalf("%s: %s has no %s", name, group.Name, getter.Name)
				}
				theirs, our := getter.Type.Out(0), ourGetter.Type.Out(0)
				if !theirs.Implements(our) || !our.Implements(theirs) {
					t.Errorf("%s: %v and %v differ", name, theirs, our)
				}
			}
		}
	}
}
