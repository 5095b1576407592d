package eyes_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/internal/bubble"
)

// TestMembers checks what is found of members of a sharded controller.
func TestMembers(t *testing.T) {
	fine := eyes.Member{Identity: "anna", Started: true, Owned: []string{"0-7"}}
	stuck := fine
	stuck.Hung, stuck.Unowned, stuck.UnownedObjects = 2, []string{"8-b", "c-f"}, 9
	stuck.Error = "the lease is gone"
	free := fine
	free.Unowned = stuck.Unowned[:1]
	stuck.UnownedSince = time.Now().Add(-time.Hour)
	idle := eyes.Member{Identity: "anna", Error: "the table hasn't been read yet"}
	for _, c := range []struct {
		before, now eyes.Member
		kinds       string
	}{
		{fine, fine, ""}, {free, free, "no owner"}, {fine, stuck, ""}, {stuck, fine, ""}, {idle, idle, ""},
		{stuck, stuck, "member can't act, work hangs, no owner"},
	} {
		synctest.Test(t, func(t *testing.T) {
			e, m := eyes.New(eyes.Options{}), c.before
			e.AddMember("bakers", func() (eyes.Member, bool, error) {
				if m.Error == "" {
					return m, true, nil
				}
				return m, true, errors.New(m.Error)
			}, nil)
			e.Snapshot()
			bubble.Pass(10 * time.Second)
			m = c.now
			var kinds []string
			for _, f := range e.Snapshot().Findings {
				kinds = append(kinds, f.Kind)
			}
			for _, f := range e.Snapshot().Findings {
				known := f.Kind == "no owner" && !f.Since.IsZero() && f.Since.Equal(m.UnownedSince)
				if !f.Earlier || known != (f.Kind == "no owner" && !m.UnownedSince.IsZero()) ||
					strings.Contains(f.Cause, "objects") != (known && m.UnownedObjects > 0) {
					t.Errorf("from %+v to %+v: %+v", c.before, c.now, f)
				}
			}
			if got := strings.Join(kinds, ", "); got != c.kinds {
				t.Errorf("from %+v to %+v: found %q, want %q", c.before, c.now, got, c.kinds)
			}
		})
	}
}

// TestErrorsOfMembers checks that members' errors, too, name objects with Keys only, and then in a field.
func TestErrorsOfMembers(t *testing.T) {
	const leases = "https://10.0.0.1:6443/apis/coordination.k8s.io/v1/namespaces/x/leases"
	gone := apierrors.NewNotFound(schema.GroupResource{Resource: "leases"}, "secret")
	unreachable := &url.Error{Op: "Get", URL: leases + "/secret?timeout=9s", Err: errors.New("refused")}
	for failed, want := range map[error]string{
		fmt.Errorf("not renewed: %w", unreachable): `not renewed: Get "` + leases + `": refused`,
		fmt.Errorf("not renewed: %w", gone):        `not renewed: leases "(name)" not found`,
	} {
		for _, keys := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				e := eyes.New(eyes.Options{Keys: keys})
				e.AddMember("bakers", func() (eyes.Member, bool, error) {
					return eyes.Member{Identity: "anna", Started: true}, true, failed
				}, nil)
				e.Snapshot()
				bubble.Pass(10 * time.Second)
				s := e.Snapshot()
				var text strings.Builder
				if err := s.WriteText(&text); err != nil {
					t.Fatal(err)
				}
				if m := s.Members[0]; strings.Contains(text.String(), "secret") != keys || !keys && m.Error != want {
					t.Errorf("with keys %t, the error is %q, want %q, in\n%s", keys, m.Error, want, &text)
				}
				key := ""
				if keys && errors.Is(failed, gone) {
					key = "secret"
				}
				if len(s.Findings) != 1 || s.Findings[0].Key != key || s.Members[0].ErrorKey != key {
					t.Errorf("with keys %t, found %v, of %q", keys, s.Findings, s.Members[0].ErrorKey)
				}
			})
		}
	}
}
