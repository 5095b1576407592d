package informer_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// TestStatusHasDecodingErrors checks that Status.LastError, SyncError and the error of a health check wrap a
// DecodingError, and that their texts name what an operator needs, for every kind of client.
func TestStatusHasDecodingErrors(t *testing.T) {
	good := secretList(secretObject(4, ""))
	for name, of := range map[string]struct {
		list, watch answer
		texts       []string
	}{
		"page": {list: answer{body: "<html></html>", header: map[string]string{"Content-Type": "text/html"}},
			texts: []string{"begins with '<'", "status 200", "text/html", "13 bytes"}},
		"array": {list: answer{body: "[]"}, texts: []string{"an array", "status 200", "2 bytes"}},
		"empty": {list: answer{}, texts: []string{"an empty body", "status 200", "0 bytes"}},
		"object": {list: answer{body: secretList(secretObject(4, `,"immutable":"`+plantedValue+`"`))},
			texts: []string{"object ns/s", "field immutable", "string", "bool"}},
		"event": {list: answer{body: good}, watch: answer{body: secretEvent("ADDED",
			secretObject(6, `,"data":{"password":["`+plantedValue+`"]}`))},
			texts: []string{"object ns/s", `field data["password"]`, "array", "[]uint8"}},
	} {
		config := rest.Config{Host: "http://" + serverName, QPS: -1,
			ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
		config.Transport = inMemory{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch query := r.URL.Query(); {
			case query.Get("watch") == "":
				of.list.write(w)
			case query.Get("sendInitialEvents") == "true":
				(&answer{status: http.StatusUnprocessableEntity}).write(w)
			default:
				of.watch.write(w)
			}
		})}
		for kind, newInformer := range secretInformers(config) {
			if kind == "dynamic" && len(of.texts) > 2 && strings.HasPrefix(of.texts[0], "object") {
				continue // Unstructured objects have no types.
			}
			t.Run(name+"/"+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					i := newInformer()
					ctx, stop := context.WithCancel(t.Context())
					var running sync.WaitGroup
					running.Go(func() { i.RunWithContext(ctx) })
					bubble.Advance(2 * time.Minute)
					status, _ := informer.StatusOf(i)
					errs := []error{status.LastError}
					if name != "event" {
						errs = append(errs, status.NotSynced(),
							informer.HealthCheck(informer.HealthOptions{}, i)(nil),
							&informer.NotSyncedError{Informers: []*informer.SyncError{status.NotSynced()}})
					}
					stop()
					running.Wait()
					for _, err := range errs {
						if _, ok := errors.AsType[*listwatch.DecodingError](err); !ok {
							t.Errorf("no DecodingError: %T %v", err, err)
							continue
						}
						for _, text := range of.texts {
							if !strings.Contains(err.Error(), text) {
								t.Errorf("%q isn't in: %v", text, err)
							}
						}
						if text := fmt.Sprintf("%v %+v", err, status); strings.Contains(text, plantedValue) {
							t.Errorf("it has the value: %s", text)
						}
					}
				})
			})
		}
	}
}
