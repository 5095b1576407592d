// Package output brings generated files to the disk: it writes what changed
// and nothing else, tells what would change, and removes what is no longer
// generated. It is the only stage that touches the disk.
//
// A [Set] is what a run wants to exist. [Set.Compare] holds it against the
// disk; the [Plan] that it returns can be shown as a diff or applied.
package output
