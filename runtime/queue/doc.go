// Package queue is a work queue: producers add items, workers take them, and no two workers have the
// same item at once.
//
// An item is a comparable value, usually a key. It is in the queue once however often it is added.
// These are its states:
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
// Delayed is independent of the others: an item that is ready or in process can be delayed too, and
// then runs (again) when the delay is over. That is client-go's rule, and it suits a controller that
// looks at an object again in an hour, whatever happens until then. With Config.MergeDelayed an Add
// replaces the delayed copy: for a controller that looks again an hour after it looked last.
//
// # Promises
//
//   - An item is in process once at a time. If it is added meanwhile, it runs once more.
//   - Nothing is lost: each Add is followed by a Get of the item. Nothing runs without an Add.
//   - Items are handed out in the order in which they became ready, unless the Config asks for another
//     order: by priority, with ageing so that nothing starves; in turns between flows; or an order of
//     the caller's.
//   - A delay is never cut short. Delays that end at the same time end in the order of their AddAfter.
//   - After ShutDown the queue still hands out what is ready. ShutDownWithDrain waits for what is in
//     process, Drain also for what is ready.
//   - While nothing is delayed, and nothing in process with Metrics set, the queue has no goroutine and
//     no timer. A new queue takes less than 1 KB. The queue gives a burst's memory back when it has
//     been empty since; limiters are client-go's, and keep theirs.
//
// The order in which several workers begin to work on their items isn't promised, nor is anything
// beyond the life of the process.
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
// Function Run of package workqueue is this loop with error handling, panics, draining and a variable
// number of workers. A Queue is a TypedRateLimitingInterface of client-go's util/workqueue.
//
// # How it works
//
// A table gives each item a slot with a number. The order of ready items, the schedule of delayed ones
// and the metrics deal in these numbers. The schedule is a heap of due times with one timer, set to the
// earliest.
package queue
