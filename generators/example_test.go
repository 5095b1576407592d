package generators_test

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/kubewright/kubewright/generators"
)

// The steps of kubewright check: flags and packages become a configuration, which becomes changes in
// memory. Changes.Apply would write them.
func Example() {
	ctx := context.Background()
	var layout generators.Layout
	flags := pflag.NewFlagSet("check", pflag.ContinueOnError)
	layout.AddFlags(flags)
	err := flags.Parse([]string{"--output-dir", "../examples/generated", "--metadata-informers",
		"--read-only-views"})
	if err != nil {
		fmt.Println(err)
		return
	}
	config, err := layout.Resolve(ctx, []string{"../examples/apis/..."})
	if err != nil {
		fmt.Println(err)
		return
	}
	changes, problems, err := generators.Plan(ctx, config)
	for _, problem := range problems { // of the input, with file, line and column
		fmt.Println(problem)
	}
	if err != nil || problems.Fatal() {
		fmt.Println(err)
		return
	}
	fmt.Println("current:", changes.Current())
	// Output: current: true
}
