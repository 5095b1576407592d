// Package fault has a proxy for the API of Kubernetes that fails in every way we know of: as networks do, as
// servers do, and as servers must not.
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
// a [Script] says so step by step, [Random] draws from a seed. What happened is in [Proxy.Trace], a Script by
// which it happens again, and which may be shortened.
package fault
