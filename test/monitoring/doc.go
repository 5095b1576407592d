// Package monitoring tests the alerts and the dashboard of contrib/prometheus/monitoring with Prometheus' own
// parser and engine. The engine reads the metrics of a program in a bubble of testing/synctest.
//
// Prometheus' packages rules and tsdb aren't linked: they need the SDKs of clouds. The engine's interfaces
// need some packages below tsdb, for chunks. TestLinked checks that these are all.
package monitoring
