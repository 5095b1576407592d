package version_test

import (
	"fmt"

	"github.com/kubewright/kubewright/runtime/version"
)

// Generated code has this line. It doesn't compile with a runtime that no longer serves the generation.
const _ = version.Generation2

// The line above fails to compile with a runtime that doesn't serve the generation: the name doesn't exist
// yet, or is no longer a constant.
func Example() {
	fmt.Println("this runtime serves generation 2:", version.Generation2)
	// Output: this runtime serves generation 2: true
}
