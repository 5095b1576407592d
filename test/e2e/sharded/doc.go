// Package sharded holds the tests of package sharding with processes: replicas of a controller that share
// their objects, before a real API server. While a writer changes objects, replicas are killed, frozen, added
// and sent away, and the server is restarted.
//
// Replicas reach the server through a proxy, which records what arrives. Each request says by which replica
// it was sent and when, and each write of a reconcile for which range, by which token, and when that was
// looked up. The clock is the machine's monotonic one, which all processes share. The judge, a function of
// these records, says what was wrong.
//
// The tests need Linux.
package sharded
