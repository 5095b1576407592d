// This keeps what make upstream lays over the repository out of the main module.
module github.com/kubewright/kubewright/upstream

go 1.26.0
