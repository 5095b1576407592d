// Package e2e holds the tests of generated clients, listers and informers
// against real API servers.
package e2e
