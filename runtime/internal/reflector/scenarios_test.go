package reflector

import (
	"errors"
	"net/url"
	"strings"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	configMaps = schema.GroupResource{Resource: "configmaps"}
	expired    = apierrors.NewResourceExpired("expired")
	throttled  = apierrors.NewTooManyRequests("busy", 0)
	internal   = apierrors.NewInternalError(errors.New("broken"))
	forbidden  = apierrors.NewForbidden(configMaps, "", errors.New("no"))
	refused    = &url.Error{Op: "Get", URL: "https://server", Err: syscall.ECONNREFUSED}
	tooLarge   = func() error {
		err := apierrors.NewTimeoutError("Too large resource version", 1)
		err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}
		return err
	}()
)

// listed prepares a server with object a at version 101, and a client that can't stream lists.
func listed(w *world) {
	w.server.NoWatchListClient()
	w.create("a")
}

// streamed prepares the same server and a client that can.
func streamed(w *world) { w.create("a") }

const (
	firstList = `LIST rv="0" limit=500` + "\n"
	firstA    = "replace [a@101] at 101\n"
	watch101  = `WATCH rv="101" bookmarks timeout` + "\n"
	asks101   = `LIST rv="101" match=NotOlderThan limit=1` + "\n"
	listedA   = firstList + firstA + watch101
	stream    = ` match=NotOlderThan bookmarks initial=true timeout` + "\n"
	firstA102 = "replace [a@101 b@102] at 102\n"
	streamedA = `WATCH rv=""` + stream + firstA
	stream101 = `WATCH rv="101"` + stream
)

// scenarios are the transitions from each state, declared in files of their own.
var scenarios = []struct {
	state string
	table []scenario
}{{"listing", listings}, {"watching", watchings}, {"streaming", streamings}}

func eachScenario(t *testing.T, f func(*testing.T, scenario)) {
	for _, group := range scenarios {
		for _, s := range group.table {
			t.Run(s.name, func(t *testing.T) { f(t, s) })
		}
	}
}

func joined(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// TestTransitions checks where each transition leads.
func TestTransitions(t *testing.T) {
	eachScenario(t, func(t *testing.T, s scenario) {
		if got := joined(s.play(t, ours)); got != s.want {
			t.Errorf("got:\n%s\nwant:\n%s", got, s.want)
		}
	})
}

// TestLikeClientGo checks that a server and a store can't distinguish our reflector from client-go's, unless
// the scenario documents a difference.
func TestLikeClientGo(t *testing.T) {
	eachScenario(t, func(t *testing.T, s scenario) {
		got := joined(s.play(t, upstream))
		if same := got == s.want; same != (s.differs == "") {
			t.Errorf("client-go differs: %q; its transcript:\n%s\nours:\n%s", s.differs, got, s.want)
		}
	})
}
