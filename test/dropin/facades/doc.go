// Package facades tests that the facades can replace the packages of client-go that they stand for: nothing
// of the exported API is missing or incompatible, client-go's example compiles with a changed import path,
// and client-go's own tests of these packages pass, except for a list of those that can't run.
package facades
