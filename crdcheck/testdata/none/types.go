// Package none has no kind.
package none
