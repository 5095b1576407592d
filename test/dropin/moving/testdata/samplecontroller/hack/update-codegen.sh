#!/bin/sh
# Generates pkg/generated and the deepcopy functions.
set -e
cd "$(dirname "$0")/.."
pkg=example.com/moving/samplecontroller/pkg
go tool deepcopy-gen --go-header-file hack/boilerplate.go.txt --output-file zz_generated.deepcopy.go ./pkg/apis/...
go tool client-gen --go-header-file hack/boilerplate.go.txt \
  --clientset-name versioned --input-base "" --input $pkg/apis/samplecontroller/v1alpha1 \
  --output-dir pkg/generated/clientset --output-pkg $pkg/generated/clientset
go tool lister-gen --go-header-file hack/boilerplate.go.txt --output-dir pkg/generated/listers \
  --output-pkg $pkg/generated/listers ./pkg/apis/samplecontroller/v1alpha1
go tool informer-gen --go-header-file hack/boilerplate.go.txt --output-dir pkg/generated/informers \
  --output-pkg $pkg/generated/informers \
  --versioned-clientset-package $pkg/generated/clientset/versioned \
  --listers-package $pkg/generated/listers ./pkg/apis/samplecontroller/v1alpha1
