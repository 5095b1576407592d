// Package apilaws checks generated code while it runs. A test generates code for random APIs, and one program
// for many of them calls Main: copies share no memory with their originals; JSON doesn't change on its way
// through apply configurations; fakes create, get, list and apply each kind; what was applied can be
// extracted.
package apilaws

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"k8s.io/apimachinery/pkg/runtime"
)

// API is the code that was generated for an API. What wasn't generated is nil.
type API struct {
	// Name is the API's name in messages.
	Name string
	// Types are pointers to the types that have generated deep copies.
	Types []any
	// Simple and Managed are the constructors of the fake clientset, NewSimpleClientset and NewClientset.
	Simple, Managed func(...runtime.Object) any
	// Functions are the exported functions of the packages of apply configurations.
	Functions []any
}

// counts are the numbers of checks.
type counts struct{ references, configurations, clients, applied int }

// Main checks APIs and exits, with 1 if a law doesn't hold. Each line that it prints about an API begins with
// its name.
func Main(apis []API) {
	var all counts
	status := 0
	for _, api := range apis {
		if err := api.check(&all); err != nil {
			fmt.Printf("%s: %v\n", api.Name, err)
			status = 1
		}
	}
	fmt.Printf("%d APIs, %d references, %d configurations, %d clients, %d applied\n", len(apis),
		all.references, all.configurations, all.clients, all.applied)
	os.Exit(status)
}

func (a API) check(all *counts) error {
	var errs []error
	for _, pointer := range a.Types {
		n, err := Copies(pointer)
		all.references, errs = all.references+n, append(errs, err)
	}
	kinds := configured(a.Functions)
	for _, k := range kinds {
		errs = append(errs, k.unchanged())
		all.configurations++
	}
	errs = append(errs, a.fakes(kinds, all))
	return errors.Join(errs...)
}

// recovered turns a panic into an error.
func recovered(err *error) {
	if cause := recover(); cause != nil {
		*err = errors.Join(*err, fmt.Errorf("panic: %v\n%.3000s", cause, debug.Stack()))
	}
}
