package conformance

import "slices"

// ToolScenarios are those that every toolkit has to pass.
var ToolScenarios = slices.Concat(deltaFIFOs, indexers, waits, reflectors, informers, controllers)
