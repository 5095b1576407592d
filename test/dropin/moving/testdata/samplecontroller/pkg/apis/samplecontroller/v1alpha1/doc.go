// +k8s:deepcopy-gen=package
// +groupName=samplecontroller.example.com

// Package v1alpha1 has the kind Foo.
package v1alpha1
