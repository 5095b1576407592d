// Command child measures one mode, for benchmarks whose own program is so large that it would change the
// result.
package main

import "github.com/kubewright/kubewright/internal/wirebench"

func main() { wirebench.Child(nil) }
