package eyes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// ownership is who owns a namespace or a UID, in each sharded controller.
type ownership struct {
	Schema int       `json:"schema"`
	Taken  time.Time `json:"taken"`
	Value  string    `json:"value"`
	Owners []owner   `json:"owners"`
}

type owner struct {
	Source string `json:"source"`
	// Identity is empty if nobody owns it. Then Unknown is why that isn't certain, if it isn't.
	Identity string `json:"identity,omitempty"`
	Unknown  string `json:"unknown,omitempty"`
}

// ownerOf asks the members that were added who owns a namespace or a UID.
func (e *Eyes) ownerOf(value string) ownership {
	s := e.Snapshot()
	e.mu.Lock()
	asked := maps.Clone(e.owners)
	e.mu.Unlock()
	o := ownership{Schema: Schema, Taken: s.Taken, Value: value, Owners: []owner{}}
	for _, source := range slices.Sorted(maps.Keys(asked)) {
		one := owner{Source: source}
		if identity, owned := asked[source](value); owned {
			one.Identity = identity
		} else if n := slices.IndexFunc(s.Members, func(m Member) bool { return m.Source == source }); n < 0 {
			one.Unknown = "the member has left"
		} else if m := s.Members[n]; m.Owners == 0 && len(m.Unowned) == 0 { // It knows no range.
			one.Unknown = cmp.Or(m.Error, "the member knows no ranges")
		}
		o.Owners = append(o.Owners, one)
	}
	return o
}

func (o ownership) String() string {
	if len(o.Owners) == 0 {
		return "no member of a sharded controller was added"
	}
	var texts []string
	for _, owner := range o.Owners {
		text := fmt.Sprintf("%q is owned by %s of %q", o.Value, cmp.Or(owner.Identity, "nobody"), owner.Source)
		if owner.Unknown != "" {
			text = fmt.Sprintf("it isn't known who owns %q in %q: %s", o.Value, owner.Source, owner.Unknown)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}
