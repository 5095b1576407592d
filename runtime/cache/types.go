package cache

import "k8s.io/client-go/tools/cache"

// Types of informers, stores and queues. They are client-go's, which documents them.
type (
	AppendFunc                     = cache.AppendFunc
	BookmarkInfo                   = cache.BookmarkInfo
	Config                         = cache.Config
	Controller                     = cache.Controller
	DeletedFinalStateUnknown       = cache.DeletedFinalStateUnknown
	Delta                          = cache.Delta
	DeltaFIFOOptions               = cache.DeltaFIFOOptions
	DeltaType                      = cache.DeltaType
	Deltas                         = cache.Deltas
	DoneChecker                    = cache.DoneChecker
	ExpirationCache                = cache.ExpirationCache
	ExpirationPolicy               = cache.ExpirationPolicy
	ExplicitKey                    = cache.ExplicitKey
	FIFO                           = cache.FIFO
	FakeCustomStore                = cache.FakeCustomStore
	FakeExpirationPolicy           = cache.FakeExpirationPolicy
	GenericLister                  = cache.GenericLister
	GenericNamespaceLister         = cache.GenericNamespaceLister
	HandlerOptions                 = cache.HandlerOptions
	Heap                           = cache.Heap
	IndexFunc                      = cache.IndexFunc
	Indexer                        = cache.Indexer
	Indexers                       = cache.Indexers
	Indices                        = cache.Indices
	InformerName                   = cache.InformerName
	InformerNameAndResource        = cache.InformerNameAndResource
	InformerOptions                = cache.InformerOptions
	InformerSynced                 = cache.InformerSynced
	KeyError                       = cache.KeyError
	KeyFunc                        = cache.KeyFunc
	KeyGetter                      = cache.KeyGetter
	KeyLister                      = cache.KeyLister
	KeyListerGetter                = cache.KeyListerGetter
	LessFunc                       = cache.LessFunc
	MutationCache                  = cache.MutationCache
	MutationCacheOptions           = cache.MutationCacheOptions
	MutationDetector               = cache.MutationDetector
	Object                         = cache.Object
	ObjectName                     = cache.ObjectName
	PopProcessFunc                 = cache.PopProcessFunc
	ProcessBatchFunc               = cache.ProcessBatchFunc
	ProcessFunc                    = cache.ProcessFunc
	Queue                          = cache.Queue
	QueueWithBatch                 = cache.QueueWithBatch
	RealFIFO                       = cache.RealFIFO
	RealFIFOOptions                = cache.RealFIFOOptions
	ReplacedAllInfo                = cache.ReplacedAllInfo
	ResourceVersionComparator      = cache.ResourceVersionComparator
	ResourceVersionUpdater         = cache.ResourceVersionUpdater
	RetryWithDeadline              = cache.RetryWithDeadline
	SharedIndexInformer            = cache.SharedIndexInformer
	SharedIndexInformerOptions     = cache.SharedIndexInformerOptions
	SharedInformer                 = cache.SharedInformer
	ShouldResyncFunc               = cache.ShouldResyncFunc
	Store                          = cache.Store
	SyncAllInfo                    = cache.SyncAllInfo
	SyncResult                     = cache.SyncResult
	TTLPolicy                      = cache.TTLPolicy
	ThreadSafeStore                = cache.ThreadSafeStore
	ThreadSafeStoreTransaction     = cache.ThreadSafeStoreTransaction
	ThreadSafeStoreWithTransaction = cache.ThreadSafeStoreWithTransaction
	TimestampedEntry               = cache.TimestampedEntry
	Transaction                    = cache.Transaction
	TransactionError               = cache.TransactionError
	TransactionStore               = cache.TransactionStore
	TransactionType                = cache.TransactionType
	TransformFunc                  = cache.TransformFunc
	TransformingStore              = cache.TransformingStore
	UndeltaStore                   = cache.UndeltaStore
)

// Types of handlers. They are client-go's, which documents them.
type (
	FilteringResourceEventHandler     = cache.FilteringResourceEventHandler
	ResourceEventHandler              = cache.ResourceEventHandler
	ResourceEventHandlerDetailedFuncs = cache.ResourceEventHandlerDetailedFuncs
	ResourceEventHandlerFuncs         = cache.ResourceEventHandlerFuncs
	ResourceEventHandlerRegistration  = cache.ResourceEventHandlerRegistration
)

// Types of the typed API. They are client-go's, which documents them.
type (
	DeletedObject[T Object]                          = cache.DeletedObject[T]
	TypedFilteringResourceEventHandler[T Object]     = cache.TypedFilteringResourceEventHandler[T]
	TypedIndexFunc[T any]                            = cache.TypedIndexFunc[T]
	TypedIndexer[T any]                              = cache.TypedIndexer[T]
	TypedIndexers[T any]                             = cache.TypedIndexers[T]
	TypedResourceEventHandler[T Object]              = cache.TypedResourceEventHandler[T]
	TypedResourceEventHandlerDetailedFuncs[T Object] = cache.TypedResourceEventHandlerDetailedFuncs[T]
	TypedResourceEventHandlerFuncs[T Object]         = cache.TypedResourceEventHandlerFuncs[T]
	TypedSharedIndexInformer[T Object]               = cache.TypedSharedIndexInformer[T]
)

// Types of lister-watchers and reflectors. They are client-go's, which documents them.
type (
	Getter                       = cache.Getter
	ListFunc                     = cache.ListFunc
	ListWatch                    = cache.ListWatch
	ListWithContextFunc          = cache.ListWithContextFunc
	Lister                       = cache.Lister
	ListerWatcher                = cache.ListerWatcher
	ListerWatcherWithContext     = cache.ListerWatcherWithContext
	ListerWithContext            = cache.ListerWithContext
	Reflector                    = cache.Reflector
	ReflectorBookmarkStore       = cache.ReflectorBookmarkStore
	ReflectorOptions             = cache.ReflectorOptions
	ReflectorStore               = cache.ReflectorStore
	VeryShortWatchError          = cache.VeryShortWatchError
	WatchErrorHandler            = cache.WatchErrorHandler
	WatchErrorHandlerWithContext = cache.WatchErrorHandlerWithContext
	WatchFunc                    = cache.WatchFunc
	WatchFuncWithContext         = cache.WatchFuncWithContext
	Watcher                      = cache.Watcher
	WatcherWithContext           = cache.WatcherWithContext
)

// Types of metrics. They are client-go's, which documents them.
type (
	CounterMetric           = cache.CounterMetric
	GaugeMetric             = cache.GaugeMetric
	HistogramMetric         = cache.HistogramMetric
	InformerMetricsProvider = cache.InformerMetricsProvider
	MetricsProvider         = cache.MetricsProvider
	SummaryMetric           = cache.SummaryMetric
)

// The types of deltas.
const (
	Added       = cache.Added
	Updated     = cache.Updated
	Deleted     = cache.Deleted
	Replaced    = cache.Replaced
	ReplacedAll = cache.ReplacedAll
	Sync        = cache.Sync
	SyncAll     = cache.SyncAll
	Bookmark    = cache.Bookmark
)

// The types of the changes of a transaction.
const (
	TransactionTypeAdd    = cache.TransactionTypeAdd
	TransactionTypeUpdate = cache.TransactionTypeUpdate
	TransactionTypeDelete = cache.TransactionTypeDelete
)

// NamespaceIndex is the name of the index by namespace.
const NamespaceIndex = cache.NamespaceIndex

var (
	// ErrFIFOClosed is the error of Pop for a queue that is closed and empty.
	ErrFIFOClosed = cache.ErrFIFOClosed
	// ErrZeroLengthDeltasObject is the error for empty Deltas, which have no key.
	ErrZeroLengthDeltasObject = cache.ErrZeroLengthDeltasObject
)
