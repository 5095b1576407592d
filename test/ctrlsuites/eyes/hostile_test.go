package eyes

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubewright/kubewright/contrib/prometheus/eyesmetrics"
	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// script is markup that would run in a page that shows texts as markup, or as part of an attribute.
func script(field string) string {
	return field + `"'><script>hacked()</script><img src=x onerror=hacked()><a href="javascript:hacked()">`
}

// TestInjection puts markup into each field that is a text, and checks that the page shows it as text.
func TestInjection(t *testing.T) {
	one := informer.Status{
		LastError: errors.New(script("LastError")), Relisted: errors.New(script("Relisted")),
		FailingSince: time.Now().Add(-time.Minute), Failures: 2,
		Reading: listwatch.Reading{NotStreamed: script("NotStreamed")},
		Resource: schema.GroupVersionResource{
			Group: script("Group"), Version: script("Version"), Resource: script("Resource"),
		},
		Handlers: []informer.HandlerStatus{{Name: script("Handler")}},
		Dropped:  []string{script("Dropped")}, Indexes: []string{script("Indexes")},
	}
	texts := []string{
		"LastError", "Relisted", "NotStreamed", "Group", "Version", "Resource", "Handler", "source", "queue",
		"group", "Identity", "Error", "Owned", "Giving", "Unowned", "LabelSelector", "FieldSelector", "Dropped",
		"Indexes", "FailingItem", "LateCause",
	}
	for v, n := reflect.ValueOf(&one).Elem(), 0; n < v.NumField(); n++ {
		if name := v.Type().Field(n).Name; v.Field(n).Kind() == reflect.String && name != "Type" {
			v.Field(n).SetString(script(name))
			texts = append(texts, name)
		}
	}
	e := eyes.New(eyes.Options{Keys: true})
	e.AddCaches(script("source"), &statuses{list: []informer.Status{one}})
	e.AddQueue(script("queue"), queueStatus{
		Failing: 1, FailingItem: script("FailingItem"), Late: 1, LateCause: script("LateCause"),
	})
	e.AddMember(script("group"), func() (eyes.Member, bool, error) {
		return eyes.Member{
			Identity: script("Identity"), Owned: []string{script("Owned")},
			Giving: []string{script("Giving")}, Unowned: []string{script("Unowned")},
		}, true, errors.New(script("Error"))
	}, nil)
	b := open(t, e)
	b.html()
	for _, text := range texts {
		b.check(fmt.Sprintf(`document.querySelector("main").textContent.includes(%q)`, script(text)))
	}
	b.check(`document.querySelectorAll("main script, main img, main a").length === 0`)
	// The policy would stop it, too.
	b.value(`globalThis.hacked = () => { globalThis.ran = true };
		document.querySelector("main").append(document.createRange().createContextualFragment(
			"<script>hacked()</script><img src=x onerror=hacked()>"))`, nil)
	b.wait(`document.querySelector("main img").complete`)
	b.check(`globalThis.ran === undefined`)
}

// TestSecrets checks that names of objects are shown with the option Keys only, and never in metrics.
func TestSecrets(t *testing.T) {
	const secret = "planted"
	decoding := &listwatch.DecodingError{
		Namespace: "ns-" + secret, Name: secret, Field: "spec.size", Value: "string", Type: "int",
		Err: errors.New("invalid character 'x' in " + secret),
	}
	missing := apierrors.NewNotFound(schema.GroupResource{Resource: "bakeries"}, secret)
	all := &statuses{list: []informer.Status{{
		Name: "informer of bakeries", Resource: schema.GroupVersionResource{Resource: "bakeries"},
		State: informer.BackingOff, LastError: fmt.Errorf("list: %w", decoding), Failures: 3,
		FailingSince: time.Now().Add(-time.Minute), Relisted: missing, Mutations: 1, MutatedObject: secret,
		FieldSelector: "metadata.name=" + secret,
	}}}
	// Requests that fail have names in their URLs: in the last error, why a list was necessary, and findings.
	refused := func(path string) error {
		return &url.Error{Op: "Get", URL: "https://api/api/v1/namespaces/x/ovens" + path, Err: syscall.ECONNREFUSED}
	}
	now := time.Now()
	all.list = append(all.list, informer.Status{
		Name: "informer of ovens", State: informer.BackingOff, Failures: 3, FailingSince: now.Add(-time.Minute),
		LastError: refused("?fieldSelector=metadata.name%3D" + secret),
		Relisted:  refused("/" + secret + "?timeout=9s"), Listed: now,
		RecentLists: [3]time.Time{now.Add(-2 * time.Minute), now.Add(-time.Minute), now},
	})
	for _, keys := range []bool{false, true} {
		t.Run(fmt.Sprintf("keys %t", keys), func(t *testing.T) {
			e := eyes.New(eyes.Options{Keys: keys})
			e.AddCaches("shop", all)
			e.AddQueue("bakeries", queueStatus{Failing: 1, FailingItem: secret, FailingError: secret})
			registry := prometheus.NewRegistry()
			registry.MustRegister(eyesmetrics.New(e))
			metrics := get(t, promhttp.HandlerFor(registry, promhttp.HandlerOpts{}), "/metrics")
			answers := map[string]string{
				"page": open(t, e).html(), "JSON": get(t, e, "/?format=json"), "text": get(t, e, "/?format=text"),
			}
			for name, answer := range answers {
				if strings.Contains(answer, secret) != keys {
					t.Errorf("%s, with keys %t: %s", name, keys, answer)
				}
				if !strings.Contains(answer, "spec.size") {
					t.Errorf("%s lacks the path of the field", name)
				}
				// Twice in findings, and as the last error and the reason of the relist.
				quote := map[string]string{"JSON": `\"`}[name]
				refused := "https://api/api/v1/namespaces/x/ovens" + cmp.Or(quote, `"`) + ": connection refused"
				if got := strings.Count(answer, refused); !keys && got != 4 {
					t.Errorf("%s tells %d times of which collection the requests failed: %s", name, got, answer)
				}
			}
			if strings.Contains(metrics, secret) || !strings.Contains(metrics, `resource="bakeries"`) {
				t.Errorf("metrics: %s", metrics)
			}
		})
	}
}
