package model_test

import (
	"context"
	"fmt"

	"github.com/kubewright/kubewright/generators/internal/model"
)

// The model of a group has every name that a template needs.
func Example() {
	api, problems := model.Load(context.Background(), model.Config{
		Inputs:     []model.Input{{Pattern: "../../../examples/apis/shop/v1"}},
		Generators: model.Clients,
	})
	for _, problem := range problems {
		fmt.Println(problem)
	}
	if problems.Fatal() {
		return
	}
	for _, group := range api.Groups {
		for _, version := range group.Versions {
			for _, kind := range version.Kinds {
				fmt.Println(group.Name, version.Name, kind.Resource, "namespaced:", kind.Namespaced,
					"status:", kind.Verb["updateStatus"])
			}
		}
	}
	// Output:
	// shop.kubewright.dev v1 bakeries namespaced: true status: true
	// shop.kubewright.dev v1 inspections namespaced: true status: false
	// shop.kubewright.dev v1 markets namespaced: false status: false
}
