// Package readonly shows listers whose results can't be used to change a cache,
// which kubewright generates with --read-only-views.
package readonly
