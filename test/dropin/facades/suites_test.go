package facades

// suites are the tests of client-go that run on our facades.
var suites = []suite{
	{
		original: "tools/cache", facade: "runtime/cache", uses: "Store",
		helpers: []string{"cache_test.go", "main_test.go", "util_test.go"},
		either: map[string][]edit{
			// The names include the path of the package: as text up to v0.37 of client-go, and then as that of
			// the test's package, which isn't that of the type of handlers here.
			"event_handler_name_test.go": {
				{`k8s\.io/client-go/tools/cache\.(TestNameForHandler|mockHandler)`, sandboxPath + `/cache.$1`},
				{`pkgPrefix \+ "(ResourceEventHandlerFuncs)`, `"k8s.io/client-go/tools/cache.$1`},
			},
		},
		edits: map[string][]edit{
			"controller_test.go": {
				{`fifo\.keyOf\(`, `DeletionHandlingMetaNamespaceKeyFunc(`},
				{`fifo\.logger`, `fifoLogger`},
			},
			"delta_fifo_test.go": {
				{`\bf\.list\(`, `fifoList(f`},
				{`\bf\.listKeys\(`, `fifoKeys(f`},
				{`\bf\.get\(`, `fifoGet(f, `},
				{`\bf\.queue\b`, `fifoKeys(f)`},
				{`\b(f\w*)\.items\b`, `fifoItems($1)`},
				{`\bf\.emitDeltaTypeReplaced = true`, `fifoReplaces(f)`},
				{`\bDeltaFIFO\{keyFunc: (\w+)\}`, `NewDeltaFIFOWithOptions(DeltaFIFOOptions{KeyFunction: $1})`},
			},
			"shared_informer_test.go": {
				{`\.\(\*sharedIndexInformer\)`, `.(SharedIndexInformer)`},
				// TestSharedInformerWatchDisruption steps an unexported clock. Here it uses the clock of a bubble.
				{
					`func (TestSharedInformerWatchDisruption)\(t \*testing\.T\) \{`,
					`func $1(t *testing.T) { synctest.Test(t, inBubble) }; func inBubble(t *testing.T) {`,
				},
				{`\tclock := testingclock\.NewFakeClock\(time\.Now\(\)\)\n`, ``},
				{`\tinformer\.(processor\.)?clock = clock\n`, ``},
				{`clock\.Step\(`, `<-time.After(`},
			},
			"thread_safe_store_test.go": {
				{`\.\(\*threadSafeMap\)`, `.(ThreadSafeStoreWithTransaction)`},
				{`\bstore\.index\.indices\b`, `indicesOf(store)`},
			},
		},
		leftOut: map[string]string{
			"expiration_cache_test.go":                    "ExpirationCache is client-go's own",
			"fifo_test.go":                                "FIFO is client-go's own",
			"heap_test.go":                                "Heap is client-go's own",
			"identity_test.go":                            "InformerName is client-go's own",
			"mutation_cache_test.go":                      "MutationCache is client-go's own",
			"reflector_data_consistency_detector_test.go": "Reflector is client-go's own",
			"reflector_test.go":                           "Reflector is client-go's own",
			"reflector_watchlist_test.go":                 "Reflector is client-go's own",
			"retry_with_deadline_test.go":                 "RetryWithDeadline is client-go's own",
			"the_real_fifo_test.go":                       "RealFIFO is client-go's own",

			"TestFIFOCache":                    "FIFO is client-go's own, and a Store in tests only",
			"TestListenerResyncPeriodsDelayed": "delays a goroutine that our informers don't have",
			"TestMutationDetector":             "replaces the unexported detector of an informer",
			"TestNameForHandler/nil":           "a nil handler is refused",
			"TestProcessDeltasInBatch":         "calls an unexported function of client-go's informers",
			"TestResyncCheckPeriod":            "reads unexported periods of an informer and its handlers",
			"TestWithStoreMetricsDefaulting":   "reads an unexported field of a store",
		},
	},
	{
		original: "util/workqueue", facade: "runtime/workqueue", uses: "Interface",
		edits: map[string][]edit{
			// The test waits until the queue has received the added items. Ours has when AddAfter returns.
			"delaying_queue_test.go": {
				{`len\(q\.\(\*delayingType\[any\]\)\.waitingForAddCh\) == 0`, `true`},
			},
			"rate_limiting_queue_test.go": {
				{`NewRateLimitingQueue\(limiter\)\.\(\*rateLimitingType\[any\]\)`, `newRateLimiting(limiter)`},
			},
		},
		leftOut: map[string]string{
			"TestMetricShutdown": "replaces the unexported metrics of a queue",
			"TestMetrics":        "shortens the unexported period in which a queue updates its metrics",
		},
	},
	// This package runs our informers. Some functions in its tests ignore their contexts.
	{original: "tools/cache", facade: "runtime/cache", user: "tools/watch"},
}
