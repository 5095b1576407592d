package check

import (
	"fmt"

	"github.com/kubewright/kubewright/internal/guarantee"
)

// Law is one of Laws.
type Law struct {
	// Guarantee is what users lose where the law is broken.
	Guarantee guarantee.Guarantee
	// Says is a phrase.
	Says string
}

// Laws are the laws, see the package documentation.
var Laws []Law

var (
	shows       = law(guarantee.Complete, "the store at a version is what the server had")
	replays     = law(guarantee.Complete, "what handlers are told replays to the store")
	agree       = law(guarantee.Complete, "typed and untyped handlers agree")
	grows       = law(guarantee.NoTimeTravel, "no version goes back")
	objectsGrow = law(guarantee.Ordered, "no version of an object goes back")
	oneCall     = law(guarantee.Ordered, "a handler is called once at a time")
	staysSynced = law(guarantee.SyncedMeansDelivered, "who has synced stays so")
	toldSynced  = law(guarantee.SyncedMeansDelivered, "what has been told has synced")
	finds       = law(guarantee.IndexEqualsScan, "indexes find what a scan finds")
	goesOn      = law(guarantee.Resumable, "a watch goes on where it was")
	Converges   = law(guarantee.Converging, "everything converges")
	bounded     = law(guarantee.BoundedLoad, "requests are bounded")
	frees       = law(guarantee.BoundedMemory, "what is gone is freed")
	Hangs       = law(guarantee.NoLeak, "nothing hangs")
	Left        = law(guarantee.NoLeak, "nothing is left")
	ended       = law(guarantee.NoLeak, "nobody is called after the end")
	saysStopped = law(guarantee.NoLeak, "a stopped informer says so")
	works       = law(guarantee.NoRace, "no call fails")
	survives    = law(guarantee.NoRace, "nobody panics")
)

func law(g guarantee.Guarantee, says string) Law {
	l := Law{g, says}
	Laws = append(Laws, l)
	return l
}

// String begins with the guarantee.
func (l Law) String() string { return fmt.Sprintf("%s: %s", l.Guarantee, l.Says) }

// Violation is a law that was broken.
type Violation struct {
	Law Law
	// What is the informer and the details.
	What string
}

func (v Violation) String() string { return fmt.Sprintf("%v: %s", v.Law, v.What) }
