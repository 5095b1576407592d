// Package metadata shows informers and listers that keep nothing of objects but
// their metadata, which kubewright generates with --metadata-informers.
package metadata
