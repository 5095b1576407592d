// Package facades tests that the facades take the place of the packages of
// client-go that they stand for: nothing of the exported API is missing or
// incompatible, and client-go's own examples and tests compile and pass with
// the import path changed.
package facades
