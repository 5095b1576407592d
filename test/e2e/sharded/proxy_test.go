//go:build linux

package sharded

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/client-go/rest"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/test/e2e/sharded/internal/judge"
	"github.com/kubewright/kubewright/test/e2e/sharded/internal/wire"
)

// records is what the proxy, the writer, the watcher and the rig record.
type records struct {
	mu sync.Mutex
	judge.Records
}

func (r *records) add(add func(*judge.Records)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	add(&r.Records)
}

// copy returns the records so far.
func (r *records) copy() judge.Records {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.Records
	all.Lists = append([]judge.List{}, all.Lists...) // their ends are set later
	all.Rounds = append([]judge.Round{}, all.Rounds...)
	return all
}

// proxy stands between the replicas and the server, and records what passes.
type proxy struct {
	forward *httputil.ReverseProxy
	records *records

	mu sync.Mutex
	// holds has the members whose next write of a bakery is held back.
	holds map[string]*hold
	// whole removes the selector from watches, so that the server seems not to filter them.
	whole bool
	// reads are the current lists and watches of bakeries.
	reads map[*exchange]context.CancelFunc
}

// hold holds a write back. held is closed when the write has arrived, and closing free lets it pass.
type hold struct{ held, free chan struct{} }

// startProxy runs a proxy for a server until the test ends, and returns its address.
func startProxy(t *testing.T, config *rest.Config, records *records) (*proxy, string) {
	t.Helper()
	config = rest.CopyConfig(config)
	config.NextProtos = []string{"http/1.1"} // over one HTTP/2 connection, requests would wait for each other
	config.DisableCompression = true
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{
		records: records, holds: map[string]*hold{}, reads: map[*exchange]context.CancelFunc{},
	}
	p.forward = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Del("Accept-Encoding") // the proxy reads the answers
		},
		Transport:      transport,
		FlushInterval:  -1,
		ModifyResponse: p.answered,
		ErrorLog:       log.New(io.Discard, "", 0),
		// The client sees a broken connection, as without a proxy.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	server := httptest.NewServer(p)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return p, server.URL
}

// exchange describes a request on its way. It is in the request's context.
type exchange struct {
	member  string
	arrived wire.Time
	// list is the index of a List in the records, -1 if the request isn't a list. watch is set for a watch.
	list  int
	watch bool
}

type exchangeKey struct{}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e := &exchange{member: r.Header.Get(wire.Member), arrived: wire.Now(), list: -1}
	ctx, cancel := context.WithCancel(context.WithValue(r.Context(), exchangeKey{}, e))
	defer cancel()
	r = r.WithContext(ctx)
	switch isBakery := strings.Contains(r.URL.Path, "/bakeries"); {
	case isBakery && r.Method == http.MethodGet:
		p.read(r, e)
		p.mu.Lock()
		p.reads[e] = cancel
		p.mu.Unlock()
		defer func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			delete(p.reads, e)
		}()
	case isBakery:
		p.wait(r.Context(), e.member)
		e.arrived = wire.Now()
		p.wrote(r, e)
	}
	p.forward.ServeHTTP(w, r)
}

// read records a list, and removes the selector of a watch if the proxy is whole.
func (p *proxy) read(r *http.Request, e *exchange) {
	query := r.URL.Query()
	p.mu.Lock()
	whole := p.whole
	p.mu.Unlock()
	watches := query.Get("watch") != ""
	e.watch = watches
	if selector := query.Get("shardSelector"); !watches || query.Get("sendInitialEvents") != "" {
		ranges := shard.All()
		if selector != "" {
			_, ranges, _ = shard.ParseSelector(selector) // the informer wrote it, so it is valid
		}
		p.records.add(func(all *judge.Records) {
			if query.Get("continue") != "" { // the next page
				for i, l := range slices.Backward(all.Lists) {
					if l.Member == e.member && l.Ranges.Equal(ranges) {
						e.list = i
						return
					}
				}
			}
			e.list = len(all.Lists)
			all.Lists = append(all.Lists, judge.List{Member: e.member, Ranges: ranges, Began: e.arrived})
		})
	} else if whole {
		query.Del("shardSelector")
		r.URL.RawQuery = query.Encode()
	}
}

// wrote records a write of a bakery.
func (p *proxy) wrote(r *http.Request, e *exchange) {
	write := judge.Write{Member: e.member, Object: r.Method + " " + r.URL.Path, Arrived: e.arrived}
	if r.Header.Get(wire.InGroup) == wire.Group {
		write.Stamped, write.Looked = true, wire.Parse(r.Header.Get(wire.Looked))
		// A header that can't be parsed gives a wrong record, which the judge reports.
		_, _ = fmt.Sscanf(r.Header.Get(wire.Range), "%x-%x", &write.Range.First, &write.Range.Last)
		write.Hash = shard.Hash(r.Header.Get(wire.Value))
		write.Token, _ = strconv.ParseInt(r.Header.Get(wire.Token), 10, 64)
	}
	p.records.add(func(all *judge.Records) { all.Writes = append(all.Writes, write) })
}

// hold holds back the next write of a member.
func (p *proxy) hold(member string) *hold {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := &hold{make(chan struct{}), make(chan struct{})}
	p.holds[member] = h
	return h
}

func (p *proxy) wait(ctx context.Context, member string) {
	p.mu.Lock()
	h := p.holds[member]
	delete(p.holds, member)
	p.mu.Unlock()
	if h == nil {
		return
	}
	close(h.held)
	select {
	case <-h.free:
	case <-ctx.Done():
	}
}

// setWhole sets whether later watches of bakeries keep their selector, and ends the current ones.
func (p *proxy) setWhole(whole bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.whole = whole
	for e, cancel := range p.reads {
		cancel()
		delete(p.reads, e)
	}
}

// reading returns the members that list or watch bakeries.
func (p *proxy) reading() map[string]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	members := map[string]bool{}
	for e := range p.reads {
		members[e.member] = true
	}
	return members
}

// answered records what the server's answer shows.
func (p *proxy) answered(r *http.Response) error {
	e := r.Request.Context().Value(exchangeKey{}).(*exchange)
	switch {
	case r.StatusCode/100 != 2:
	case e.list >= 0:
		r.Body = &listBody{ReadCloser: r.Body, watch: e.watch, ended: func() {
			p.records.add(func(all *judge.Records) { all.Lists[e.list].Ended = wire.Now() })
		}}
	case r.Request.Method != http.MethodGet:
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if strings.Contains(r.Request.URL.Path, "/leases") {
			return p.wroteLease(r.Request, e, body)
		}
		return p.reconciled(body)
	}
	return nil
}

// reconciled records a successful write of a bakery, because the watcher may miss it while it can't watch.
func (p *proxy) reconciled(body []byte) error {
	var bakery shopv1.Bakery
	if err := json.Unmarshal(body, &bakery); err != nil {
		return err
	}
	sight := judge.Sight{
		UID: bakery.UID, Observed: bakery.Status.ObservedGeneration, At: wire.Now(),
		Gone: bakery.DeletionTimestamp != nil && len(bakery.Finalizers) == 0,
	}
	p.records.add(func(all *judge.Records) { all.Sights = append(all.Sights, sight) })
	return nil
}

// wroteLease records a renewal, or a table.
func (p *proxy) wroteLease(r *http.Request, e *exchange, body []byte) error {
	var lease coordinationv1.Lease
	if err := json.Unmarshal(body, &lease); err != nil {
		return err
	}
	switch {
	case r.Method == http.MethodDelete:
	case lease.Name == wire.Group:
		entries, err := tableOf(&lease)
		if err != nil {
			return err
		}
		p.records.add(func(all *judge.Records) {
			all.Tables = append(all.Tables, judge.Table{Began: e.arrived, Done: wire.Now(), Entries: entries})
		})
	case lease.Name == wire.Group+"-"+e.member:
		sent := wire.Parse(r.Header.Get(wire.Sent))
		p.records.add(func(all *judge.Records) {
			renewal := judge.Renewal{Member: e.member, Sent: sent, Answered: wire.Now()}
			all.Renewals = append(all.Renewals, renewal)
		})
	}
	return nil
}

// tableOf reads the table of a group's Lease.
func tableOf(lease *coordinationv1.Lease) ([]judge.Entry, error) {
	for key, text := range lease.Annotations {
		if path.Base(key) == "table" {
			return judge.ParseTable(text)
		}
	}
	return judge.ParseTable("")
}

// listBody calls ended when a list has been read to its end: that of its last page, or the bookmark that ends
// the initial events of a watch. A watch that ends earlier has no such end.
type listBody struct {
	io.ReadCloser
	ended func()
	watch bool
	// more means that there is another page.
	more, done bool
	last       []byte
}

var (
	initialEventsEnd = []byte("k8s.io/initial-events-end")
	nextPage         = []byte(`"continue":"`)
)

func (b *listBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if b.done {
		return n, err
	}
	seen := append(b.last, into[:n]...)
	if _, token, ok := bytes.Cut(seen, nextPage); ok && len(token) > 0 && token[0] != '"' {
		b.more = true
	}
	if b.watch {
		b.done = bytes.Contains(seen, initialEventsEnd)
	} else {
		b.done = err == io.EOF && !b.more
	}
	if b.done {
		b.ended()
		return n, err
	}
	b.last = append([]byte{}, seen[max(0, len(seen)-len(initialEventsEnd)):]...)
	return n, err
}
