package conformance

import "slices"

// ToolScenarios are those that every toolkit has to pass.
var ToolScenarios = slices.Concat(deltaFIFOs, fifos, realFIFOs, heaps, indexers, expirations, mutations, waits, reflectors, informers, controllers)
