// +k8s:deepcopy-gen=package
// +groupName=pipe.example.com

// Package v1 has a kind with a field of a type that encodes itself, as Tekton's ParamValue does.
package v1
