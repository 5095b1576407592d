// Package wirebench holds the table of internal/wirebench against a real API
// server.
package wirebench
