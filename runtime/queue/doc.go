// Package queue is a work queue: producers add items, workers get them, and an
// item is never with two workers at once.
//
// An item is a comparable value, a key most often. It is in the queue once
// however often it is added, and these are its states:
//
//	            Add              Get                  Add
//	unknown ───────────▶ ready ───────▶ in process ───────▶ in process,
//	 ▲ │ ▲                 ▲ ▲            │                 added again
//	 │ │ │      Done       │ │            │                     │
//	 │ │ └─────────────────│─│────────────┘        Done         │
//	 │ │                   │ └──────────────────────────────────┘
//	 │ │ AddAfter          │ the delay is over
//	 │ └─────▶ delayed ────┘
//	 │           │
//	 └───────────┘ Cancel
//
// Delayed is beside the others: an item that is ready or in process can be
// delayed too, and then runs (again) when the delay is over. That is client-go's
// rule, and what a controller wants that looks at an object again in an hour,
// whatever happens until then. With MergeDelayed an Add takes the delayed copy
// along: for a controller whose next look is due an hour after the last one.
//
// # What it promises
//
//   - An item is in process once at a time. Added meanwhile, it runs once more.
//   - Nothing is lost: each Add is followed by a Get of the item that begins
//     after it. Nothing runs without an Add: items are handed out at most as
//     often as they were added.
//   - Items that are ready come out in the order in which they became ready,
//     unless the Config asks for another: by priority with ageing, so that
//     nothing starves; in fair shares between parties; or by an Order.
//   - A delay is never cut short. Delays that end at the same time end in the
//     order in which they were asked for.
//   - After ShutDown what is ready is still handed out. ShutDownWithDrain waits
//     for what is in process, to the moment; Drain for what is ready as well.
//   - While nothing is delayed, and nothing in process with Metrics set, there
//     is no goroutine and no timer, and a new queue takes less than 1 KB. What a
//     burst took is given back when the queue has been empty since.
//
// It doesn't promise that items are taken in order when there are several
// workers (they are handed out in order), nor anything beyond the process.
//
// # A worker
//
//	for {
//		item, err := q.GetContext(ctx)
//		if err != nil {
//			return
//		}
//		if err := reconcile(ctx, item); err != nil {
//			q.AddRateLimited(item)
//		} else {
//			q.Forget(item)
//		}
//		q.Done(item)
//	}
//
// Run of package workqueue is this loop with everything that it lacks. A Queue
// is a TypedRateLimitingInterface of client-go's util/workqueue, and goes where
// that is wanted.
package queue
