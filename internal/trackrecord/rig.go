package main

import (
	"strings"
)

// rig is tests that find bugs.
type rig struct {
	// about is a phrase for the page.
	about string
	// folder is that of the package, flags are those with which its tests are built.
	folder string
	flags  []string
	// tests is a pattern of names, args are the flags of these tests.
	tests string
	args  []string
}

// The rigs. All of them test laws: no bug needs a test of its own.
const (
	model       = "model"
	raced       = "raced model"
	conformance = "conformance"
	lab         = "lab"
	stores      = "stores"
	queues      = "queues"
	deltas      = "deltas"
)

var rigs = map[string]rig{
	model: {about: "the model of informers", folder: "runtime/internal/conformance",
		tests: "TestModel|TestTransformModel", args: []string{"-model.seeds=200"}},
	raced: {about: "the model of informers, with -race", folder: "runtime/internal/conformance",
		flags: []string{"-race"}, tests: "TestModel", args: []string{"-model.seeds=30"}},
	conformance: {about: "the comparison with client-go", folder: "runtime/internal/conformance",
		tests: "TestConformance|TestToolConformance"},
	lab: {about: "the simulated lab", folder: "test/lab/check", tests: "TestSimulated|TestEachFault|TestTold",
		args: []string{"-lab.only=ours", "-lab.shrink=false", "-lab.seeds=400"}},
	stores: {about: "the model of stores", folder: "runtime/internal/store", tests: "TestModel"},
	deltas: {about: "random calls, compared with client-go", folder: "runtime/cache",
		tests: "TestDeltaFIFOLikeClientGo|TestDeltaFIFOOrder"},
	queues: {about: "the model and the laws of queues", folder: "runtime/queue",
		tests: "TestQueueIsItsModel|TestLaws"},
}

// build identifies what is built: rigs of the same tests share it.
func (r rig) build() string { return r.folder + " " + strings.Join(r.flags, " ") }
