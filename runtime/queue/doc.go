// Package queue is a work queue: producers add items, workers take them, and no two workers have the
// same item at once. docs/concepts.md explains how it fits into a controller.
//
// An item is a comparable value, usually a key. However often it is added, it is in the queue once.
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
// With Config.Gate, an item that becomes ready may be held back:
//
//	             Gate returns true            Release, or a shutdown
//	not ready ─────────────────────▶ parked ─────────────────────────▶ ready
//
// A parked item is in the queue once, like a ready one, and an addition may raise its priority.
//
// Delayed is independent of the others: an item that is ready or in process can be delayed too, and then runs
// (again) when the delay is over. That is client-go's rule, and it suits a controller that checks an object
// again in an hour, whatever happens until then. With Config.MergeDelayed there is one copy, the
// earliest. That suits a controller that checks an object again an hour after the last check.
//
// # Promises
//
//   - At most one worker at a time has an item. If the item is added meanwhile, it runs once more.
//   - Nothing is lost before ShutDown: each Add is followed by a Get of the item, if what Config.Gate holds
//     back is released. ShutDown forgets delayed items, and items added after it are ignored. Nothing is
//     handed out that wasn't added.
//   - Items are handed out in the order in which they became ready, unless the Config asks for another
//     order: by priority, with ageing so that nothing starves; in turns between flows; or an order of
//     the caller's.
//   - A delay is never cut short. Delays that end at the same time end in the order of their AddAfter.
//   - After ShutDown the queue still hands out ready items. ShutDownWithDrain waits for items in process,
//     Drain also for ready ones.
//   - While nothing is delayed, the queue has no goroutine and no timer. With Metrics it has a timer
//     while something is in process, and up to half a second longer.
//   - A new queue takes less than 1 KB. Each time the queue becomes empty, it frees the memory of a
//     burst if it has used less than an eighth of it since it was last empty. Limiters are client-go's,
//     and keep the failures of an item until Forget.
//
// The order in which several workers begin to work on their items isn't promised. Items don't outlive
// the process.
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
// Function Run of package workqueue is this loop, with handling of errors and panics, draining, and a
// variable number of workers. A Queue is a TypedRateLimitingInterface of client-go's util/workqueue.
//
// # How it works
//
// A table gives each item a slot with a number. The order of ready items, the schedule of delayed ones
// and the metrics refer to items by these numbers. The schedule is a heap of due times with one timer,
// set to the earliest.
package queue
