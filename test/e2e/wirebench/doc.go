// Package wirebench runs internal/wirebench's comparison against a real API server.
package wirebench
