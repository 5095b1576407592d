// Package facades tests that the facades can replace the packages of client-go that they stand for: nothing
// of the exported API is missing or incompatible, and client-go's own examples and tests compile and pass
// with a changed import path.
package facades
