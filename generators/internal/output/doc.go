// Package output writes generated files to the disk. It is the only stage that writes to it.
//
// A [Set] is the content that a run generated. [Set.Compare] compares it with the disk and
// returns a [Plan], which can be shown as a diff or applied. Applying it writes only files
// that changed, so that build caches and watchers see no other change.
package output
