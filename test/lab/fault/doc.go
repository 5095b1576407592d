// Package fault has a proxy for the API of Kubernetes that injects every fault we know of: those of networks,
// those that servers may have, and those that servers must not have.
//
// A [Proxy] stands between clients and a backend, which is any http.RoundTripper: [Handler] makes one of a
// server in memory, [Backend] one of a real API server. There are two ways into the proxy, with one engine
// behind them:
//
//   - It is itself an http.RoundTripper, see [Proxy.Config]: no connections, no goroutines, everything on the
//     clock of a bubble of [testing/synctest].
//   - [Proxy.Listen] serves it over HTTP/1.1 or HTTP/2, with TLS by a CA of its own, on 127.0.0.1 or on a
//     [Network] in memory, which works in a bubble, too.
//
// A [Fault] is a row of the table that [All] returns. A [Plan] decides which requests meet with which faults:
// a [Script] lists the steps, [Random] draws them from a seed. [Proxy.Trace] returns what happened, as a
// Script that makes it happen again and that can be shortened.
package fault
