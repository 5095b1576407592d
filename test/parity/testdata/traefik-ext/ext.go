// Package ext stands in for a module that traefik replaces by a folder of its own repository, which the module
// proxy doesn't have.
package ext

// HTTP has no fields upstream either.
type HTTP struct{}

// Router has no fields upstream either.
type Router struct{}
