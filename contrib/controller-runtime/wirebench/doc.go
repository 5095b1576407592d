// Package wirebench measures what the caches of a controller-runtime manager cost, with kwctrl and without,
// as internal/wirebench does for informers.
package wirebench
