// Package metadata shows informers and listers that keep only the metadata of objects.
// kubewright generates them with --metadata-informers.
package metadata
