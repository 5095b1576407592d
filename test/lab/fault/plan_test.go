package fault_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/kubewright/kubewright/test/lab/fault"
)

// TestScriptsAsText writes a step for each fault as text, and reads it again.
func TestScriptsAsText(t *testing.T) {
	var script fault.Script
	for i, f := range fault.All() {
		script = append(script, fault.Step{
			Request: fault.Request{Client: "a client", Kind: f.On, Resource: "pods", Namespace: "ns",
				Selector: "a=b", Nth: i},
			Fault: f.Name, After: f.After[1], For: f.For[1],
		})
	}
	again, err := fault.ParseScript(script.String())
	if err != nil || !slices.Equal(again, script) {
		t.Errorf("%v\n%v\ninstead of\n%v", err, again, script)
	}
	if _, err := fault.ParseScript("{}\nno step"); err == nil {
		t.Error("no error")
	}
	if _, err := fault.ParseScript(`{"request":{"kind":"wink"},"fault":"503"}`); err == nil {
		t.Error("no error for a kind that doesn't exist")
	}
}

// TestTableIsWhole checks that every row is complete.
func TestTableIsWhole(t *testing.T) {
	names := map[string]bool{}
	for _, f := range fault.All() {
		if names[f.Name] {
			t.Errorf("%s is there twice", f.Name)
		}
		names[f.Name] = true
		if f.About == "" || f.Guarantee == "" || f.On == 0 || f.On&fault.Other != 0 || f.After[0] > f.After[1] ||
			f.For[0] > f.For[1] {
			t.Errorf("%+v", f)
		}
	}
}

// TestRandomRepeats: the same seed makes the same faults happen to the same requests, whatever other requests
// come. So does the trace. Another seed makes other faults happen.
func TestRandomRepeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := func(plan fault.Plan, before ...string) fault.Script {
			r := newRig(t, "transport", jsonType, plan)
			for _, path := range before {
				r.get(path)
			}
			n := len(r.proxy.Trace())
			for range 10 {
				for _, kind := range []fault.Kind{fault.List, fault.Watch, fault.WatchList, fault.Page} {
					r.get(paths[kind])
				}
			}
			return r.proxy.Trace()[n:]
		}
		random := fault.Random{Seed: 7, Rate: 0.5, Faults: withoutEpisodes()}
		trace := run(random)
		if len(trace) < 10 || len(trace) > 30 {
			t.Errorf("%d faults in 40 requests at a rate of a half", len(trace))
		}
		for name, again := range map[string]fault.Script{
			"the same seed": run(random), "the trace": run(trace),
			"among others": run(random, "/api/v1/pods", "/api/v1/secrets?watch=1"),
		} {
			if !slices.Equal(again, trace) {
				t.Errorf("%s:\n%v\ninstead of\n%v", name, again, trace)
			}
		}
		random.Seed++
		if other := run(random); slices.Equal(other, trace) {
			t.Error("another seed makes the same happen")
		}
	})
}

// withoutEpisodes are the faults that happen to one request only, so that time doesn't matter.
func withoutEpisodes() (faults []fault.Fault) {
	for _, f := range fault.All() {
		switch f.Name {
		case "refused", "restart", "wrong-certificate", "401-while", "403-while", "404-while",
			"close-at-once", "html-while", "repeated-page":
		default:
			faults = append(faults, f)
		}
	}
	return faults
}
