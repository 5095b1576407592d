package eyes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// member is what AddMember was given.
type member struct {
	look    func() (m Member, goesOn bool, why error)
	ownerOf func(value string) (identity string, owned bool)
}

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
	e.mu.Lock()
	asked := maps.Clone(e.members)
	e.mu.Unlock()
	o := ownership{Schema: Schema, Taken: time.Now(), Value: value, Owners: []owner{}}
	for _, source := range slices.Sorted(maps.Keys(asked)) {
		one := owner{Source: source}
		if identity, owned := asked[source].ownerOf(value); owned {
			one.Identity = identity
		} else if m, _, why := asked[source].look(); m.Owners == 0 && len(m.Unowned) == 0 { // It knows no range.
			text, _ := (&Snapshot{keys: e.options.Keys}).textOf(why)
			one.Unknown = cmp.Or(text, "the member knows no ranges")
		}
		o.Owners = append(o.Owners, one)
	}
	return o
}

func (o ownership) String() string {
	if len(o.Owners) == 0 {
		return "no member of a sharded controller was added, or all have left"
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
