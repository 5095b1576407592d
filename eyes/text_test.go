package eyes_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kubewright/kubewright/eyes"
)

// TestHandlerNames checks that the text shows names of types without folders, and those that somebody gave as
// they are.
func TestHandlerNames(t *testing.T) {
	s := eyes.Snapshot{Informers: []eyes.Informer{{Name: "configmaps", Handlers: []eyes.Handler{
		{Name: "example.com/work/queue.enqueuer[k8s.io/client/cache.Name,*example.com/shop-api/v1.Bakery]",
			At: "main.go:78"},
		{Name: "shop/orders"},
	}}}}
	var text strings.Builder
	if err := s.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{" queue.enqueuer[cache.Name,*v1.Bakery] (main.go:78) ", " shop/orders "} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q isn't in\n%s", want, &text)
		}
	}
}

// TestText compares the whole text of a program in which nothing is unusual, and of one where all is that can
// be.
func TestText(t *testing.T) {
	now := time.Date(2000, 1, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	fine := eyes.Snapshot{Taken: now, Informers: []eyes.Informer{
		{Source: "shop", Name: "the informer", Resource: "bakeries", Group: "example.com",
			Version: "v1", Form: "typed", State: "Watching", Since: ago(time.Minute), Synced: true, Lists: 1,
			Watches: 2, Objects: 3, ResourceVersion: "17", Listed: ago(time.Hour), ListSeconds: .3124,
			ListItems: new(5), ListBytes: 4096,
			LastEvent: ago(time.Second), LastBookmark: ago(31 * time.Second), Lag: &eyes.Lag{Median: 1, P99: 2}},
		{Source: "shop", Resource: "pods", State: "Idle", Mutations: new(0)},
	}, Queues: []eyes.Queue{{Source: "bakeries"}}, Members: []eyes.Member{{Source: "bakers", Identity: "anna"}}}
	odd := fine
	odd.Informers = append([]eyes.Informer{}, fine.Informers...)
	i := &odd.Informers[0]
	i.LastError, i.LastErrorKey, i.Failures, i.FailingSince = "no\nrole", "ns/one", 2, ago(time.Minute)
	i.Reason, i.Relisted, i.RelistedKey = "forbidden", "too old", "ns/two"
	i.Mutations, i.MutatedKey, i.NotStreamed = new(3), "ns/three", "it is wrapped"
	i.ListingSince = new(ago(2 * time.Minute))
	i.LabelSelector, i.FieldSelector = "a=b", "metadata.name=(name)"
	i.Dropped, i.Indexes = []string{"status", "spec"}, []string{"namespace", "node"}
	i.Lag, i.LagUnknown = nil, "objects have no times"
	odd.Queues = []eyes.Queue{{Source: "bakeries", Late: 4, LateFor: "informer of pods", LateKey: "ns/four",
		RunningKey: "ns/five"}}
	odd.Members = []eyes.Member{{Source: "bakers", Identity: "anna", Error: "no lease", UnownedObjects: 5,
		UnownedSince: ago(time.Minute)}}
	for _, c := range []struct {
		s    eyes.Snapshot
		want string
	}{
		{fine, `
SOURCE INFORMER FORM STATE FOR SYNCED OBJECTS LISTS WATCHES LAST EVENT LAG 50% 99% FAILURES
shop bakeries.example.com typed Watching 1m0s yes 3 1 2 1s 1.0s 2.0s 0
..name: the informer; version: v1; ` +
			`resource version: 17; since the last list: 1h0m0s; it took: 0.312s; its objects: 5; its bytes: 4096; ` +
			`since the last bookmark: 31s; modified objects: not looked for
shop pods - Idle - no 0 0 0 - - 0
..modified objects: none found in samples

SOURCE INFORMER HANDLER SYNCED BACKLOG DELIVERED BUSY PANICS

QUEUE READY IN PROCESS AGAIN PARKED DELAYED NEXT DUE HANDED OUT LONGEST RUNNING OLDEST WAITING FAILING
bakeries 0 0 0 0 0 - 0 no metrics no metrics 0

SOURCE MEMBER OWNED FOR GIVING OWNERS UNOWNED GAINED LOST RUNNING WAITING HUNG LOST MEMBERS LOST AGO
bakers anna - - - 0 - 0 0 0 0 0 - -
`},
		{odd, `
SOURCE INFORMER FORM STATE FOR SYNCED OBJECTS LISTS WATCHES LAST EVENT LAG 50% 99% FAILURES
shop bakeries.example.com typed Watching 1m0s yes 3 1 2 1s - 2
..failing for: 1m0s; reason: forbidden
..last error: no role; its object: ns/one
..listing for: 2m0s
..relisted because of: too old; its object: ns/two
..not streamed, because: it is wrapped
..label selector: a=b; field selector: metadata.name=(name)
..modified objects: 3; the last of them: ns/three
..name: the informer; version: v1; ` +
			`resource version: 17; since the last list: 1h0m0s; it took: 0.312s; its objects: 5; its bytes: 4096; ` +
			`since the last bookmark: 31s; dropped fields: status, spec; indexes: namespace, node; ` +
			`lag isn't known, because: objects have no times
shop pods - Idle - no 0 0 0 - - 0
..modified objects: none found in samples

SOURCE INFORMER HANDLER SYNCED BACKLOG DELIVERED BUSY PANICS

QUEUE READY IN PROCESS AGAIN PARKED DELAYED NEXT DUE HANDED OUT LONGEST RUNNING OLDEST WAITING FAILING
bakeries 0 0 0 0 0 - 0 no metrics no metrics 0
..longest running item: ns/five
..handed out before own writes: 4; missed by: informer of pods; the last object: ns/four

SOURCE MEMBER OWNED FOR GIVING OWNERS UNOWNED GAINED LOST RUNNING WAITING HUNG LOST MEMBERS LOST AGO
bakers anna - - - 0 - 0 0 0 0 0 - -
..may begin no work, because: no lease
..ranges have had no owner for: 1m0s; objects in them, by the last count: 5
`},
	} {
		var text strings.Builder
		if err := c.s.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		_, tables, _ := strings.Cut(text.String(), "no findings\n")
		tables = strings.ReplaceAll(tables, "\n  ", "\n..") // a line below a row
		if got := spaces.ReplaceAllString(tables, " "); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
		if columns := strings.Index(tables, "SYNCED"); !strings.HasPrefix(
			tables[strings.Index(tables, "shop    pods"):][columns-1:], "no ") {
			t.Errorf("lines below rows move columns:\n%s", tables)
		}
	}
}

// TestHandlersOfInformers checks that the text tells handlers of informers of one resource apart.
func TestHandlersOfInformers(t *testing.T) {
	s := eyes.Snapshot{}
	names := []string{"apps/v1 deployments in namespace oslo", "apps/v1 deployments (10.0.0.1/metadata)"}
	for _, name := range names {
		s.Informers = append(s.Informers, eyes.Informer{
			Source: "shop", Name: "informer of " + name, Group: "apps", Resource: "deployments",
			Handlers: []eyes.Handler{{Name: "baker"}},
		})
	}
	var text strings.Builder
	if err := s.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if row := "\nshop " + name + " baker no 0 "; !strings.Contains(
			spaces.ReplaceAllString(text.String(), " "), row) {
			t.Errorf("%q isn't in\n%s", row, &text)
		}
	}
}
