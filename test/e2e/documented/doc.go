// Package documented holds the code that docs/testing.md shows, as a test that runs.
package documented
