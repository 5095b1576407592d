package main

// headline is a row that matters first, in plain English.
type headline struct {
	// Label says what is measured, and in which mode ours is if that isn't the default.
	Label string
	// of is the key of the row: package, benchmark and unit.
	of string
	// chart is the name of the chart that has the row, if any, and bar the row's label there.
	chart, bar string
}

const (
	workloads = "internal/wirebench Sync/workloads/list="
	pods      = "internal/wirebench SyncPods/pods/list="
)

// headlines are the rows that matter first. README has the first inReadme of them.
var headlines = []headline{
	{
		"Sync 20,000 custom resources, LIST, CPU",
		workloads + "LIST cpu-s",
		"sync-cpu", "custom resources, LIST",
	},
	{
		"Sync 20,000 custom resources, WatchList, CPU",
		workloads + "WatchList cpu-s",
		"sync-cpu", "custom resources, WatchList",
	},
	{
		"Sync 20,000 custom resources, LIST, peak memory",
		workloads + "LIST peak-MB",
		"sync-peak", "custom resources, LIST",
	},
	{
		"Sync 20,000 custom resources, WatchList, peak memory",
		workloads + "WatchList peak-MB",
		"sync-peak", "custom resources, WatchList",
	},
	{
		"Sync 20,000 Pods in protobuf, LIST, CPU",
		pods + "LIST cpu-s",
		"sync-cpu", "Pods in protobuf, LIST",
	},
	{
		"Sync 20,000 Pods in protobuf, WatchList, CPU",
		pods + "WatchList cpu-s",
		"sync-cpu", "Pods in protobuf, WatchList",
	},
	{
		"Sync 20,000 custom resources, moved by import path alone, LIST, CPU",
		workloads + "LIST/import-path cpu-s",
		"sync-cpu", "import path alone, LIST",
	},
	{
		"Sync 20,000 custom resources, moved by import path alone, WatchList, CPU",
		workloads + "WatchList/import-path cpu-s",
		"sync-cpu", "import path alone, WatchList",
	},
	{
		"An update to 4 handlers, moved by import path alone",
		"runtime/informer Events/facade/handlers=4 ns/op",
		"events", "4 handlers, import path alone",
	},
	{
		"Work queue, moved by import path alone, 16 workers, an item",
		"runtime/workqueue Workers/workers=16 ns/op",
		"queue", "16 workers",
	},
	{
		"Generate all clients of k8s.io/api",
		"test/gentools Generate/all s",
		"generate", "all of k8s.io/api",
	},
	{
		"Generate the clients of one group version",
		"test/gentools Generate/batch s",
		"generate", "batch/v1",
	},
	{
		"20,000 custom resources in the cache, memory",
		workloads + "LIST live-MB",
		"sync-live", "as they are",
	},
	{
		"20,000 custom resources in the cache, ours without managedFields and with ShareValues, memory",
		workloads + "LIST/no-managed-fields,shared-values live-MB",
		"sync-live", "ours without managedFields, ShareValues",
	},
	{
		"Informer of 20 small objects, memory",
		"internal/wirebench Footprint/objects=20 KB/informer",
		"", "",
	},
	{
		"An update to 1 handler",
		"runtime/informer Events/generated/handlers=1 ns/op",
		"events", "1 handler",
	},
	{
		"An update to 16 handlers",
		"runtime/informer Events/generated/handlers=16 ns/op",
		"events", "16 handlers",
	},
	{
		"List 10 of 100,000 objects by a label without an index",
		"runtime/lister List/10-of-100000/many-selectors ns/op",
		"", "",
	},
	{
		"Work queue, 1 worker, an item",
		"runtime/workqueue Workers/workers=1 ns/op",
		"queue", "1 worker",
	},
	{
		"Size of a program that lists one custom resource",
		"test/gentools Binary/full MB",
		"", "",
	},
}

const inReadme = 11

// chart is the caption of a chart and the name of its file in docs/benchmarks.
type chart struct {
	name, caption string
	// theirs is the name of the incumbent.
	theirs string
	// inReadme says whether README shows it.
	inReadme bool
}

var charts = []chart{
	{"sync-cpu", "CPU of a process until 20,000 objects synced (less is better)", "client-go", true},
	{"sync-peak", "Peak memory of a process until 20,000 objects synced (less is better)", "client-go", true},
	{"sync-live", "Memory of 20,000 custom resources in the cache (less is better)", "client-go", false},
	{"events", "Time of an update from the watch to all handlers (less is better)", "client-go", false},
	{"queue", "Time of an item through the work queue (less is better)", "client-go", false},
	{"generate", "Time to generate clients, listers and informers (less is better)", "code-generator", false},
}
