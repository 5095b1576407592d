package main

// headline is one of the most important rows, in plain English.
type headline struct {
	// Label describes the measurement, and the mode of ours if that isn't the default.
	Label string
	// of is the key of the row: package, benchmark and unit.
	of string
	// chart is the name of the chart that has the row, if any, and bar the row's label there.
	chart, bar string
	// inReadme means that README shows the row.
	inReadme bool
}

const (
	workloads = "internal/wirebench Sync/workloads/list="
	pods      = "internal/wirebench SyncPods/pods/list="
	manager   = "contrib/controller-runtime/wirebench Manager/"
	mixed     = "contrib/controller-runtime/wirebench Mixed/mixed/"
	clients   = "internal/wirebench SyncClientGo/"
	replicas  = "internal/wirebench/parts Part/list=LIST/by=namespace/server="
)

// headlines are the most important rows.
var headlines = []headline{
	{
		Label: "Sync 20,000 custom resources, LIST, CPU",
		of:    workloads + "LIST cpu-s",
		chart: "sync-cpu", bar: "custom resources, LIST",
		inReadme: true,
	},
	{
		Label: "Sync 20,000 custom resources, WatchList, CPU",
		of:    workloads + "WatchList cpu-s",
		chart: "sync-cpu", bar: "custom resources, WatchList",
		inReadme: true,
	},
	{
		Label: "Sync 20,000 custom resources, LIST, peak memory",
		of:    workloads + "LIST peak-MB",
		chart: "sync-peak", bar: "custom resources, LIST",
		inReadme: true,
	},
	{
		Label: "Sync 20,000 custom resources, WatchList, peak memory",
		of:    workloads + "WatchList peak-MB",
		chart: "sync-peak", bar: "custom resources, WatchList",
	},
	{
		Label: "Sync 20,000 Pods in protobuf, LIST, CPU",
		of:    pods + "LIST cpu-s",
		chart: "sync-cpu", bar: "Pods in protobuf, LIST",
		inReadme: true,
	},
	{
		Label: "Sync 20,000 Pods in protobuf, WatchList, CPU",
		of:    pods + "WatchList cpu-s",
		chart: "sync-cpu", bar: "Pods in protobuf, WatchList",
	},
	{
		Label: "controller-runtime, 20,000 typed custom resources, LIST, CPU",
		of:    manager + "typed/list=LIST cpu-s",
		chart: "manager-cpu", bar: "typed, LIST",
		inReadme: true,
	},
	{
		Label: "controller-runtime, 20,000 typed custom resources, WatchList, CPU",
		of:    manager + "typed/list=WatchList cpu-s",
		chart: "manager-cpu", bar: "typed, WatchList",
	},
	{
		Label: "controller-runtime, 20,000 unstructured objects, LIST, CPU",
		of:    manager + "unstructured/list=LIST cpu-s",
		chart: "manager-cpu", bar: "unstructured, LIST",
	},
	{
		Label: "controller-runtime, 20,000 typed custom resources, LIST, peak memory",
		of:    manager + "typed/list=LIST peak-MB",
		chart: "manager-peak", bar: "typed, LIST",
	},
	{
		Label: "controller-runtime, the same without managedFields, ours with ShareValues, peak memory",
		of:    manager + "typed/list=LIST/no-managed-fields,budget,shared-values peak-MB",
		chart: "manager-peak", bar: "without managedFields, ours with ShareValues",
		inReadme: true,
	},
	{
		Label: "controller-runtime, 20,000 unstructured objects, LIST, peak memory",
		of:    manager + "unstructured/list=LIST peak-MB",
		chart: "manager-peak", bar: "unstructured, LIST",
	},
	{
		Label:    "controller-runtime, six kinds, typed, metadata, unstructured, WatchList, peak memory",
		of:       mixed + "list=WatchList peak-MB",
		inReadme: true,
	},
	{
		Label: "Sync 20,000 custom resources, moved by import path alone, LIST, CPU",
		of:    workloads + "LIST/import-path cpu-s",
		chart: "sync-cpu", bar: "import path alone, LIST",
		inReadme: true,
	},
	{
		Label: "An update to 4 handlers, moved by import path alone",
		of:    "runtime/informer Events/facade/handlers=4 ns/op",
		chart: "events", bar: "4 handlers, import path alone",
		inReadme: true,
	},
	{
		Label: "Work queue, moved by import path alone, 16 workers, an item",
		of:    "runtime/workqueue Workers/workers=16 ns/op",
	},
	{
		Label:    "Generate all clients of k8s.io/api",
		of:       "test/parity/gentools Generate/all s",
		inReadme: true,
	},
	{
		Label: "20,000 custom resources in the cache, memory",
		of:    workloads + "LIST live-MB",
		chart: "sync-live", bar: "as they are",
	},
	{
		Label: "20,000 custom resources without managedFields in the cache, ours with ShareValues, memory",
		of:    workloads + "LIST/no-managed-fields,shared-values live-MB",
		chart: "sync-live", bar: "without managedFields, ours with ShareValues",
	},
	{
		Label: "An update to 16 handlers",
		of:    "runtime/informer Events/generated/handlers=16 ns/op",
		chart: "events", bar: "16 handlers",
	},
	{
		Label:    "Many kinds with few objects: an informer of 20 small ones, memory",
		of:       "internal/wirebench Footprint/objects=20 KB/informer",
		inReadme: true,
	},
}

// felt are further rows that a user feels. The page shows each with its part, or with those in which theirs
// is better.
var felt = []headline{
	{
		Label: "Dynamic informer of 20,000 objects, LIST, CPU",
		of:    clients + "dynamic/workloads/list=LIST cpu-s",
	},
	{
		Label: "Dynamic informer of 20,000 objects, LIST, peak memory",
		of:    clients + "dynamic/workloads/list=LIST peak-MB",
	},
	{
		Label: "Metadata informer of 20,000 objects, LIST, peak memory",
		of:    clients + "metadata/workloads/list=LIST peak-MB",
	},
	{
		Label: "Relist of 20,000 custom resources that haven't changed, LIST, CPU",
		of:    "internal/wirebench Relist/relist=LIST cpu-s",
	},
	{
		Label: "Relist of 20,000 custom resources that haven't changed, LIST, peak memory",
		of:    "internal/wirebench Relist/relist=LIST peak-MB",
	},
	{
		Label: "Informer of one small object, heap",
		of:    "internal/wirebench Footprint/objects=1 heap-KB/informer",
	},
	{
		Label: "Sync 20,000 custom resources, LIST, CPU",
		of:    "test/e2e/wirebench Sync/workloads/list=LIST cpu-s",
	},
	{
		Label: "Sync 20,000 custom resources, WatchList, CPU",
		of:    "test/e2e/wirebench Sync/workloads/list=WatchList cpu-s",
	},
	{
		Label: "20,000 Pods in protobuf, LIST, peak memory",
		of:    manager + "pods/list=LIST peak-MB",
	},
	{
		Label: "One of 4 replicas, the server filters, memory",
		of:    replicas + "filters/replicas=4 live-MB",
	},
	{
		Label: "One of 4 replicas, the server filters, CPU",
		of:    replicas + "filters/replicas=4 cpu-s",
	},
	{
		Label: "One of 4 replicas, the server doesn't filter, CPU",
		of:    replicas + "whole/replicas=4 cpu-s",
	},
	{
		Label: "Lister, one object by its name",
		of:    "runtime/gen/lister Get ns/op",
	},
	{
		Label: "Lister, 10 of 100,000 objects by a label",
		of:    "runtime/gen/lister List/10-of-100000/many-selectors ns/op",
	},
	{
		Label: "The same with an index of the label",
		of:    "runtime/gen/lister IndexedLabel/equal/namespace= ns/op",
	},
	{
		Label: "Read of a store while others list it, 99.9th percentile",
		of:    "runtime/internal/store WhileListed/get p99.9-ns",
	},
	{
		Label: "Update that 4 blocked handlers haven't read, memory",
		of:    "runtime/informer Blocked/coalesce=false/handlers=4 heap-B/update",
	},
	{
		Label: "Store without indexes, memory of an object beside the object",
		of:    "runtime/internal/indexer Live/objects=200000/indexes=/generated B/object",
	},
	{
		Label: "Decode a list in protobuf",
		of:    "runtime/internal/decode ListProtobuf MB/s",
	},
	{
		Label: "Priority queue with 16 workers, a request",
		of:    "contrib/controller-runtime Workers/workers=16 ns/op",
	},
	{
		Label: "Generate all clients of k8s.io/api, nothing has changed",
		of:    "test/parity/gentools Generate/unchanged s",
	},
	{
		Label: "Compile generated clients of five group versions",
		of:    "test/parity/gentools Compile s",
	},
	{
		Label: "Program that lists one custom resource, ours with --lean, size",
		of:    "test/parity/gentools Binary/lean MB",
	},
}

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
