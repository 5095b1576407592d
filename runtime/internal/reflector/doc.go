// Package reflector keeps a sink equal to the server's objects of one resource: it
// lists, watches, and starts again when it must.
//
// A reflector is a state machine. One goroutine owns it; each state is a type
// whose step does that state's work and returns the state that follows.
//
//	                 ┌─────────────────────────────────────────────┐
//	                 v                                             │
//	               start ──── can't stream ────────┐               │
//	                 │                             v               │
//	┌──────────> streaming ── refused, ───────> listing ── failed ─┤
//	│ wait: down,    │        no end in time,      │               │
//	│ or throttled   │        cut by an error      │           wait (back-off)
//	│                │                             │               │
//	│ at once:       │                             │               │
//	│ expired or too │                             │               │
//	│ large version, │                             │               │
//	│ or closed      │                             │               │
//	│ in the middle  │                             │               │
//	└────────────────┤                             │               │
//	                 └── end bookmark ──┐ ┌────────┘ committed     │
//	                                    v v                        │
//	┌────────────────────────────────> watching ── expired, ───────┘
//	│ closed in order: at once            │        any other error
//	│ down, throttled, or ten brief ones  │
//	│ in a row: wait                      │
//	└─────────────────────────────────────┘
//
// Streaming means a watch-list here: a list that is sent as the first events of a watch. For
// how a response is decoded while it arrives, see package clientsource.
//
// Every round of list and watch begins at start. The first return from streaming to
// streaming is immediate, a second in a row waits. An expired version is the server's answer
// 410 Gone: it no longer has the history since that version. The rules of each arrow (which
// resourceVersion a request carries, which error leads where, how long the wait is) are
// those of client-go's reflector, except that no answer of a server makes this one send
// requests without a pause, see docs/differences.md. They are documented at the states,
// in listing.go, streaming.go and watching.go.
//
// A list that waits for its source's limiter stays in its state. Only Health reports the
// state Waiting, and the time of the wait doesn't count as the server's.
//
// The objects of a list are staged, and become visible when the list is committed. A list
// that fails doesn't change the sink.
package reflector
