package fault

import (
	"bytes"
	"net/http"
	"strings"
)

// past is the first complete answer to a kind of list.
type past struct {
	header http.Header
	body   []byte
	// version is that of the bookmark that ended the initial events; the watch goes on from it. Empty for a
	// list.
	version string
}

// question identifies the answers that may stand in for each other: those to requests with the same question.
func (x *exchange) question() string {
	query := x.http.URL.Query()
	return strings.Join([]string{x.request.Kind.String(), x.http.URL.Path, x.request.Selector,
		query.Get("limit"), x.http.Header.Get("Accept")}, "\n")
}

// remembering passes a request, and keeps the answer if the plan may need it later. The caller holds p.mu.
func (p *Proxy) remembering(x *exchange) func(*exchange) (*http.Response, error) {
	_, known := p.past[x.question()]
	if known || ByName(staleList).On&x.request.Kind == 0 || !p.plan.mentions(staleList) {
		return (*exchange).pass
	}
	return (*exchange).passAndKeep
}

const staleList = "stale-list"

func (x *exchange) passAndKeep() (*http.Response, error) {
	resp, err := x.pass()
	if err != nil || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	kept := past{header: resp.Header.Clone()}
	if x.request.Kind == List {
		if kept.body, err = whole(resp); err != nil {
			return nil, err
		}
		setBody(resp, kept.body)
		x.keep(kept)
		return resp, nil
	}
	if s, ok := resp.Body.(*stream); ok {
		s.edit = func(e event) ([]byte, error) {
			if kept.version == "" {
				kept.body = append(kept.body, e.wire...)
				if _, endsInitial := e.isBookmark(); endsInitial {
					kept.version = e.meta().ResourceVersion
					x.keep(kept)
				}
			}
			return e.wire, nil
		}
	}
	return resp, nil
}

func (x *exchange) keep(kept past) {
	x.proxy.mu.Lock()
	defer x.proxy.mu.Unlock()
	if _, known := x.proxy.past[x.question()]; !known {
		x.proxy.past[x.question()] = kept
	}
}

// stale answers with what was kept. A watch then goes on from that version.
func stale(x *exchange) (*http.Response, error) {
	x.proxy.mu.Lock()
	kept, known := x.proxy.past[x.question()]
	x.proxy.mu.Unlock()
	if !known {
		return x.passAndKeep()
	}
	if kept.version == "" {
		resp := respond(http.StatusOK, "", kept.body)
		resp.Header = kept.header.Clone()
		return resp, nil
	}
	x.http = x.http.Clone(x.ctx)
	query := x.http.URL.Query()
	query.Del("sendInitialEvents")
	query.Del("resourceVersionMatch")
	query.Set("resourceVersion", kept.version)
	x.http.URL.RawQuery = query.Encode()
	resp, err := x.pass()
	if err != nil {
		return nil, err
	}
	if s, ok := resp.Body.(*stream); ok {
		s.out = bytes.Clone(kept.body)
	}
	return resp, nil
}
