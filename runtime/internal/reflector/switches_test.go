package reflector

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/features"
	"k8s.io/client-go/util/consistencydetector"

	"github.com/kubewright/kubewright/internal/bubble"
)

// TestInconsistencyDetector checks that, with client-go's detector on, a watch-list is listed once more,
// at its version, and that a difference panics, as with client-go.
func TestInconsistencyDetector(t *testing.T) {
	defer consistencydetector.SetDataConsistencyDetectionForWatchListEnabledForTest(true)()
	panics := survivePanics(t)

	const again = "LIST rv=\"102\" match=Exact\n"
	for _, test := range []scenario{
		{name: "consistent", before: func(w *world) { w.create("a", "b") }},
		{name: "the list fails once", before: func(w *world) {
			w.create("a", "b")
			w.server.Fail("LIST", refused)
		}, then: func(w *world) { bubble.Advance(backoff) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			*panics = nil
			got, want := joined(test.play(t, ours)), joined(test.play(t, upstream))
			if got != want || !strings.Contains(got, again) {
				t.Errorf("got:\n%s\nclient-go:\n%s", got, want)
			}
			if len(*panics) > 0 {
				t.Errorf("panics %q", *panics)
			}
		})
	}
	t.Run("inconsistent", func(t *testing.T) {
		for name, subject := range map[string]subject{"ours": ours, "client-go": upstream} {
			*panics = nil
			scenario{before: func(w *world) {
				w.create("a", "b")
				w.server.OmitEndBookmark(true)
			}, then: func(w *world) {
				w.server.Inject(watch.Event{Type: watch.Added, Object: configMap("ghost")})
				w.server.EndInitialEvents()
			}}.play(t, subject)
			if len(*panics) == 0 ||
				!strings.HasPrefix(fmt.Sprint((*panics)[0]), "data inconsistency detected for test") {
				t.Errorf("%s: panics %q", name, *panics)
			}
		}
	})
}

// TestSwitchesOfTheEnvironment checks that client-go's switches are read from the environment as client-go
// reads them. That happens once in a process, so the test starts another.
func TestSwitchesOfTheEnvironment(t *testing.T) {
	const played = "REFLECTOR_TEST_PLAYED"
	changed := scenario{before: streamed, then: func(w *world) { w.create("b"); w.create("c") }}
	if os.Getenv(played) != "" {
		lines := joined(changed.play(t, ours))
		if theirs := joined(changed.play(t, upstream)); theirs != lines {
			t.Errorf("got:\n%s\nclient-go:\n%s", lines, theirs)
		}
		fmt.Printf("detector=%t inorder=%t\n%s",
			consistencydetector.IsDataConsistencyDetectionForWatchListEnabled(),
			features.FeatureGates().Enabled(features.InOrderInformers), lines)
		return
	}
	const changes = "add b@102\nadd c@103\n"
	for _, test := range []struct{ variable, want string }{
		{"NONE=true", "detector=false inorder=true\n" + streamedA + changes},
		{"KUBE_FEATURE_WatchListClient=false", "detector=false inorder=true\n" + listedA + changes},
		{"KUBE_WATCHLIST_INCONSISTENCY_DETECTOR=true",
			"detector=true inorder=true\n" + `WATCH rv=""` + stream + "LIST rv=\"101\" match=Exact\n" +
				firstA + changes},
		// The gate is locked: neither implementation can turn it off.
		{"KUBE_FEATURE_InOrderInformers=false", "detector=false inorder=true\n" + streamedA + changes},
	} {
		t.Run(test.variable, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run", "^TestSwitchesOfTheEnvironment$")
			cmd.Env = append(os.Environ(), played+"=yes", test.variable)
			out, err := cmd.Output()
			if got, _, _ := strings.Cut(string(out), "PASS\n"); err != nil || got != test.want {
				t.Errorf("%v:\n%s\nwant:\n%s", err, out, test.want)
			}
		})
	}
}
