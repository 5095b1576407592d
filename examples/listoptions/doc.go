// Package listoptions shows how the informer of one type, of all that a factory
// makes, gets list options of its own.
package listoptions
