// Package shardingeyes lets package eyes look at members of a sharded controller.
package shardingeyes

import (
	"fmt"

	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/sharding"
)

// Add looks at a member until its Run has returned. It replaces a member that was added by that name:
//
//	shardingeyes.Add(e, "bakers", member)
//
// Of the Shards of contrib/controller-runtime, add the Member.
func Add(e *eyes.Eyes, name string, m *sharding.Member) {
	e.AddMember(name, func() (eyes.Member, bool, error) {
		s := m.Status()
		return memberOf(m.Identity(), s), !s.Left, s.Err
	}, m.OwnerOf)
}

// memberOf returns what eyes show of a status.
func memberOf(identity string, s sharding.Status) eyes.Member {
	return eyes.Member{
		Identity: identity, Owned: texts(s.Owned), Giving: texts(s.Giving), Owners: s.Owners,
		Unowned: texts(s.Unowned), UnownedObjects: s.UnownedObjects, UnownedSince: s.UnownedSince,
		Gained: s.Gained, Lost: s.Lost, Since: s.Since, LostMembers: s.LostMembers, LostAt: s.LostAt,
		Started: s.Started, Running: s.Running, Waiting: s.Waiting, Hung: len(s.Hung),
	}
}

// texts returns the texts of ranges.
func texts[T fmt.Stringer](ranges []T) []string {
	all := []string{}
	for _, r := range ranges {
		all = append(all, r.String())
	}
	return all
}
