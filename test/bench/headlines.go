package main

// headline is one of the most important rows, in plain English.
type headline struct {
	// Label describes the measurement, and the mode of ours if that isn't the default.
	Label string
	// of is the key of the row: package, benchmark and unit.
	of string
	// chart is the name of the chart that has the row, if any, and bar the row's label there.
	chart, bar string
}

const (
	workloads = "internal/wirebench Sync/workloads/list="
	pods      = "internal/wirebench SyncPods/pods/list="
	manager   = "contrib/controller-runtime/wirebench Manager/"
)

// headlines are the most important rows. README has the first inReadme of them.
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
		"controller-runtime, 20,000 typed custom resources, LIST, CPU",
		manager + "typed/list=LIST cpu-s",
		"manager-cpu", "typed, LIST",
	},
	{
		"controller-runtime, 20,000 typed custom resources, WatchList, CPU",
		manager + "typed/list=WatchList cpu-s",
		"manager-cpu", "typed, WatchList",
	},
	{
		"controller-runtime, 20,000 unstructured objects, LIST, CPU",
		manager + "unstructured/list=LIST cpu-s",
		"manager-cpu", "unstructured, LIST",
	},
	{
		"controller-runtime, 20,000 typed custom resources, LIST, peak memory",
		manager + "typed/list=LIST peak-MB",
		"manager-peak", "typed, LIST",
	},
	{
		"controller-runtime, the same without managedFields, ours with ShareValues, peak memory",
		manager + "typed/list=LIST/no-managed-fields,budget,shared-values peak-MB",
		"manager-peak", "without managedFields, ours with ShareValues",
	},
	{
		"controller-runtime, 20,000 unstructured objects, LIST, peak memory",
		manager + "unstructured/list=LIST peak-MB",
		"manager-peak", "unstructured, LIST",
	},
	{
		"Sync 20,000 custom resources, moved by import path alone, LIST, CPU",
		workloads + "LIST/import-path cpu-s",
		"sync-cpu", "import path alone, LIST",
	},
	{
		"An update to 4 handlers, moved by import path alone",
		"runtime/informer Events/facade/handlers=4 ns/op",
		"events", "4 handlers, import path alone",
	},
	{
		"Work queue, moved by import path alone, 16 workers, an item",
		"runtime/workqueue Workers/workers=16 ns/op",
		"", "",
	},
	{
		"Generate all clients of k8s.io/api",
		"test/parity/gentools Generate/all s",
		"", "",
	},
	{
		"20,000 custom resources in the cache, memory",
		workloads + "LIST live-MB",
		"sync-live", "as they are",
	},
	{
		"20,000 custom resources without managedFields in the cache, ours with ShareValues, memory",
		workloads + "LIST/no-managed-fields,shared-values live-MB",
		"sync-live", "without managedFields, ours with ShareValues",
	},
	{
		"An update to 16 handlers",
		"runtime/informer Events/generated/handlers=16 ns/op",
		"events", "16 handlers",
	},
	{
		"Informer of 20 small objects, memory",
		"internal/wirebench Footprint/objects=20 KB/informer",
		"", "",
	},
}

const inReadme = 16

// chart is the caption of a chart and the name of its file in docs/benchmarks.
type chart struct {
	name, caption string
	// theirs is the name of the incumbent.
	theirs string
	// inReadme means that README shows the chart.
	inReadme bool
}

var charts = []chart{
	{"sync-cpu", "CPU of a process until 20,000 objects synced (less is better)", "client-go", true},
	{"sync-peak", "Peak memory of a process until 20,000 objects synced (less is better)", "client-go", true},
	{
		"manager-cpu", "CPU of a manager until 20,000 objects synced (less is better)",
		"controller-runtime", false,
	},
	{
		"manager-peak", "Peak memory of a manager until 20,000 objects synced (less is better)",
		"controller-runtime", false,
	},
	{"sync-live", "Memory of 20,000 custom resources in the cache (less is better)", "client-go", false},
	{"events", "Time of an update from the watch to all handlers (less is better)", "client-go", false},
}
