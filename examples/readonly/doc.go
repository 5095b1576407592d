// Package readonly shows listers whose results can't be used to change a cache. kubewright
// generates them with --read-only-views.
package readonly
