package fault

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Kind is a kind of requests, or a set of them.
type Kind uint8

// The kinds. A request has exactly one.
const (
	List      Kind = 1 << iota // a list, or its first page
	Page                       // a further page of a list
	Watch                      // a watch from a version
	WatchList                  // a watch that begins with the initial events
	Other                      // anything else, writes for example; Random leaves it alone

	Lists   = List | Page
	Watches = Watch | WatchList
	Reads   = Lists | Watches
)

var kindNames = []string{"list", "page", "watch", "watchlist", "other"}

// String returns the names of the kinds, joined by "|".
func (k Kind) String() string {
	var names []string
	for i, name := range kindNames {
		if k&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "|")
}

// MarshalText returns what String returns.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what MarshalText returns.
func (k *Kind) UnmarshalText(text []byte) error {
	*k = 0
	if len(text) == 0 {
		return nil
	}
next:
	for name := range strings.SplitSeq(string(text), "|") {
		for i, known := range kindNames {
			if name == known {
				*k |= 1 << i
				continue next
			}
		}
		return fmt.Errorf("no kind of request: %q", name)
	}
	return nil
}

// Request describes a request. In a [Step] it is a pattern: a field that is zero matches everything.
type Request struct {
	// Client is the User-Agent, which tells the informers of one proxy apart: rest.Config has a field for it.
	Client string `json:"client,omitempty"`
	Kind   Kind   `json:"kind,omitempty"`
	// Resource is the plural, with the group unless that is empty: "pods", "deployments.apps".
	Resource  string `json:"resource,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	// Selector is the label selector and the field selector as they were sent, joined by "&".
	Selector string `json:"selector,omitempty"`
	// Nth counts, from 1, the requests that are equal in all fields above. So the number doesn't depend on what
	// other clients do at the same time.
	Nth int `json:"nth,omitempty"`
}

// String describes the request in one line.
func (r Request) String() string {
	var b strings.Builder
	word := func(format string, value any) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, format, value)
	}
	if r.Client != "" {
		word("%s:", r.Client)
	}
	if r.Kind != 0 {
		word("%v", r.Kind)
	}
	if r.Resource != "" {
		word("%s", r.Resource)
	}
	if r.Namespace != "" {
		word("in %s", r.Namespace)
	}
	if r.Selector != "" {
		word("of %s", r.Selector)
	}
	if r.Nth != 0 {
		word("#%d", r.Nth)
	}
	return b.String()
}

// matches reports whether the request, as a pattern, matches a request.
func (r Request) matches(other Request) bool {
	return (r.Client == "" || r.Client == other.Client) &&
		(r.Kind == 0 || r.Kind&other.Kind != 0) &&
		(r.Resource == "" || r.Resource == other.Resource) &&
		(r.Namespace == "" || r.Namespace == other.Namespace) &&
		(r.Selector == "" || r.Selector == other.Selector) &&
		(r.Nth == 0 || r.Nth == other.Nth)
}

// describe returns the description of a request, without Nth.
func describe(req *http.Request) Request {
	query := req.URL.Query()
	r := Request{Client: req.Header.Get("User-Agent"), Kind: Other}
	name := ""
	r.Resource, r.Namespace, name = readPath(req.URL.Path)
	if req.Method != http.MethodGet || r.Resource == "" || name != "" {
		return r
	}
	r.Selector = joined(query.Get("labelSelector"), query.Get("fieldSelector"))
	switch watch := isTrue(query, "watch"); {
	case watch && isTrue(query, "sendInitialEvents"):
		r.Kind = WatchList
	case watch:
		r.Kind = Watch
	case query.Get("continue") != "":
		r.Kind = Page
	default:
		r.Kind = List
	}
	return r
}

func isTrue(query url.Values, name string) bool {
	value := query.Get(name)
	return value == "true" || value == "1"
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "&" + b
}

// readPath parses the path of a resource or of an object. It returns empty strings for anything else.
func readPath(path string) (resource, namespace, name string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	group := ""
	switch {
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		group, parts = parts[1], parts[3:]
	default:
		return "", "", ""
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		namespace, parts = parts[1], parts[2:]
	}
	resource = parts[0]
	if group != "" {
		resource += "." + group
	}
	return resource, namespace, strings.Join(parts[1:], "/")
}
