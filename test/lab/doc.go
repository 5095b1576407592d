// Package lab runs informers against API servers behind a proxy that fails, and checks that nothing is lost.
package lab
