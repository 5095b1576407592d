package fault

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubewright/kubewright/internal/guarantee"
)

// unusableFaults break the contract in a way that no client can mistake for an answer.
func unusableFaults() []Fault {
	return []Fault{
		{Name: "wrong-content-type", Class: Unusable, On: Reads, do: html(http.StatusOK),
			Guarantee: guarantee.Told, About: "200 and a page of HTML"},
		{Name: "html-while", Class: Unusable, On: Reads, For: aWhile, do: htmlWhile,
			Guarantee: guarantee.BoundedLoad,
			About:     "200 and a page of HTML for every request of the client for a while, as from a captive portal"},
		{Name: "html-undeclared", Class: Unusable, On: Reads, do: htmlUndeclared,
			Guarantee: guarantee.Told, About: "200 and a page of HTML, of the content type of the real response"},
		{Name: "empty-body", Class: Unusable, On: Lists, do: rewrites(
			func(*exchange, *http.Response, []byte) []byte { return nil }),
			Guarantee: guarantee.Told, About: "200 and no body"},
		{Name: "status-200", Class: Unusable, On: Lists, do: statusWithSuccess,
			Guarantee: guarantee.Told, About: "200 and a Status that tells of a failure"},
		{Name: "truncated-list", Class: Unusable, On: Lists, After: someBytes, do: rewrites(truncatedList),
			Guarantee: guarantee.Told, About: "a list that is complete for HTTP and ends in the middle"},
		{Name: "corrupt-list", Class: Unusable, On: Lists, After: someBytes, do: rewrites(corruptList),
			Guarantee: guarantee.Told, About: "a list that can't be decoded"},
		{Name: "corrupt-event", Class: Unusable, On: Watches, After: fewEvents, do: editsOne(corruptEvent),
			Guarantee: guarantee.Told, About: "an event whose object can't be decoded, or is missing"},
		// A client that trusts the length waits for the rest, as client-go does.
		{Name: "corrupt-framing", Class: Unusable, On: Watches, After: fewEvents, Silence: true,
			InitialEvents: true, do: editsOne(corruptFraming),
			Guarantee: guarantee.Told,
			About:     "bytes between two events that belong to none; with protobuf, a length of 4 GiB"},
		{Name: "repeated-page", Class: Unusable, On: Page, For: aWhile, do: repeatedPage,
			Guarantee: guarantee.Told,
			About:     "a page of a list, and its continue token, comes again in place of each later one"},
		{Name: "gzip-ends-early", Class: Unusable, On: Lists, After: someBytes, do: rewrites(gzipEndsEarly),
			Guarantee: guarantee.Told, About: "a gzipped list that ends in the middle"},
		{Name: "no-end-bookmark", Class: Unusable, On: WatchList, InitialEvents: true, do: edits(noEndBookmark),
			Guarantee: guarantee.Told, About: "no bookmark ends the initial events"},
		{Name: "unknown-event", Class: Unusable, On: Watches, After: fewEvents, do: editsOne(unknownEvent),
			Guarantee: guarantee.Told,
			About:     "an event of a type that doesn't exist, before the real one or instead"},
	}
}

// rewrites returns a fault that replaces the body of a list.
func rewrites(
	rewrite func(x *exchange, resp *http.Response, body []byte) []byte,
) func(*exchange) (*http.Response, error) {
	return func(x *exchange) (*http.Response, error) {
		resp, err := x.pass()
		if err != nil || resp.StatusCode != http.StatusOK {
			return resp, err
		}
		body, err := whole(resp)
		if err != nil {
			return nil, err
		}
		setBody(resp, rewrite(x, resp, body))
		return resp, nil
	}
}

func htmlWhile(x *exchange) (*http.Response, error) {
	do := html(http.StatusOK)
	x.during(x.sameClient, do, nil)
	return do(x)
}

func htmlUndeclared(x *exchange) (*http.Response, error) {
	resp, err := x.pass()
	if err != nil || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	resp.Body.Close()
	setBody(resp, htmlPage)
	return resp, nil
}

// repeatedPage keeps the page that the step is about, and answers with it the requests for later ones.
func repeatedPage(x *exchange) (*http.Response, error) {
	resp, err := x.pass()
	if err != nil || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	body, err := whole(resp)
	if err != nil {
		return nil, err
	}
	header := resp.Header.Clone()
	x.during(func(r Request) bool { return key(r) == key(x.request) },
		func(*exchange) (*http.Response, error) {
			again := respond(http.StatusOK, "", body)
			again.Header = header.Clone()
			return again, nil
		}, nil)
	setBody(resp, body)
	return resp, nil
}

func statusWithSuccess(*exchange) (*http.Response, error) {
	status := statusOf(http.StatusInternalServerError, metav1.StatusReasonInternalError)
	return respond(http.StatusOK, "application/json", must(json.Marshal(status))), nil
}

// inside returns an index inside of a list; the bytes before it can't be decoded as a list. With protobuf the
// index lies in the envelope's content: an envelope decodes without its last fields, and without any content.
func inside(x *exchange, resp *http.Response, body []byte) int {
	begin, end := 1, len(bytes.TrimRight(body, "\n"))
	if f, _ := formatOf(resp.Header); f == protobufFormat {
		var envelope runtime.Unknown
		if envelope.Unmarshal(bytes.TrimPrefix(body, protobufPrefix)) == nil {
			if begin = bytes.LastIndex(body, envelope.Raw); begin > 0 {
				end = begin + len(envelope.Raw)
			}
		}
	}
	return min(len(body), begin+x.step.After%max(1, end-begin))
}

func truncatedList(x *exchange, resp *http.Response, body []byte) []byte {
	return body[:inside(x, resp, body)]
}

// noVarint begins a message that no protobuf decoder accepts: a number that doesn't end.
var noVarint = bytes.Repeat([]byte{0xff}, 16)

// corruptJSON replaces a quotation mark by a control character, which is never valid there.
func corruptJSON(text []byte, at int) []byte {
	text = bytes.Clone(text)
	i := bytes.IndexByte(text[at:], '"')
	if i < 0 {
		at = 0
		if i = bytes.IndexByte(text, '"'); i < 0 {
			return append(text, 1)
		}
	}
	text[at+i] = 1
	return text
}

func corruptList(x *exchange, resp *http.Response, body []byte) []byte {
	at := inside(x, resp, body)
	if f, _ := formatOf(resp.Header); f == protobufFormat {
		corrupt := bytes.Clone(body)
		for i := at; i < len(corrupt); i++ {
			corrupt[i] = 0xff
		}
		return append(corrupt, noVarint...)
	}
	return corruptJSON(body, at)
}

func corruptEvent(_ *exchange, e event) (bool, []byte, error) {
	kind, object := e.parse()
	switch {
	case !e.isChange():
		return false, nil, nil
	case e.format == protobufFormat:
		return true, e.make(kind, append(bytes.Clone(protobufPrefix), noVarint...)).wire, nil
	case kind == string(watch.Deleted):
		return true, e.make(kind, []byte("null")).wire, nil
	}
	return true, e.make(kind, corruptJSON(object, len(object)/2)).wire, nil
}

func corruptFraming(_ *exchange, e event) (bool, []byte, error) {
	garbage := []byte("}\x00{")
	if e.format == protobufFormat {
		garbage = noVarint[:4]
	}
	return true, append(garbage[:len(garbage):len(garbage)], e.wire...), nil
}

// gzipEndsEarly truncates the list without packing it if the client, on a connection, doesn't accept gzip.
func gzipEndsEarly(x *exchange, resp *http.Response, body []byte) []byte {
	if x.conn != nil && !strings.Contains(x.http.Header.Get("Accept-Encoding"), "gzip") {
		return truncatedList(x, resp, body)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(body)
	w.Close()
	resp.Header.Set("Content-Encoding", "gzip")
	const header = 10
	return packed.Bytes()[:header+x.step.After%(packed.Len()-header)]
}

func noEndBookmark(*exchange, format) func(event, bool) ([]byte, error) {
	return func(e event, due bool) ([]byte, error) {
		if _, endsInitial := e.isBookmark(); due && endsInitial {
			return nil, nil
		}
		return e.wire, nil
	}
}

// unknownEvent comes in place of the real one after an odd number of events.
func unknownEvent(x *exchange, e event) (bool, []byte, error) {
	_, object := e.parse()
	wire := e.make("SURPRISE", object).wire
	if x.step.After%2 == 0 {
		wire = append(wire, e.wire...)
	}
	return e.isChange(), wire, nil
}
