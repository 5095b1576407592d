// Package listoptions shows how to give the informer of one type list options of its own.
package listoptions
