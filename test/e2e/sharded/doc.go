// Package sharded holds the tests of package sharding with processes: replicas of a controller that share
// their objects, with a real API server. While a writer changes objects, replicas are killed, frozen, added
// and removed, and the server is restarted.
//
// Replicas reach the server through a proxy, which records what arrives. Each request has the replica that
// sent it and the time. Each write of a reconcile also has the range, the token, and the time at which the
// replica looked them up. The clock is the machine's monotonic one, which all processes share. The judge is a
// function of these records and finds what was wrong.
//
// The tests need Linux.
package sharded
