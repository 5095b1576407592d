package eyes

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
	"github.com/kubewright/kubewright/runtime/queue"
)

// Schema is the number of the form of a Snapshot in JSON. It changes if a field's meaning does, or one goes.
const Schema = 1

// Snapshot is what one look has seen. Times that are zero, and what isn't known, are left out of JSON.
type Snapshot struct {
	Schema int       `json:"schema"`
	Taken  time.Time `json:"taken"`
	// Compared is when the earlier look was taken that the findings compare with, zero if there was none.
	Compared  time.Time  `json:"compared,omitzero"`
	Findings  []Finding  `json:"findings"`
	Informers []Informer `json:"informers"`
	Queues    []Queue    `json:"queues"`
	Members   []Member   `json:"members"`

	// keys is set if texts may have the names of objects.
	keys bool
	// asked is set if somebody has asked for the look.
	asked bool
	// panics are of sources that couldn't be looked at.
	panics []Finding
	// finds are set only during a look: they would keep the stores of informers that are gone.
	finds []finder
}

// finder finds objects of an informer.
type finder struct {
	source, informer string
	find             func(key string) (obj any, ok bool)
}

// Informer is the state of an informer, see informer.Status. Form is typed, metadata or unstructured.
type Informer struct {
	Source   string `json:"source"`
	Name     string `json:"name"`
	Group    string `json:"group"`
	Version  string `json:"version"`
	Resource string `json:"resource"`
	// Namespace is empty for all. The selectors are those of the last request.
	Namespace     string `json:"namespace,omitempty"`
	LabelSelector string `json:"labelSelector,omitempty"`
	FieldSelector string `json:"fieldSelector,omitempty"`
	Form          string `json:"form,omitempty"`
	// Dropped are the fields that are left out of objects.
	Dropped []string `json:"dropped,omitempty"`
	Indexes []string `json:"indexes,omitempty"`

	State   string    `json:"state,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	Synced  bool      `json:"synced"`
	Listed  time.Time `json:"listed,omitzero"`
	Lists   int       `json:"lists"`
	Watches int       `json:"watches"`
	// ThirdListed is when the last list but two became visible, nil if there was none.
	ThirdListed *time.Time `json:"thirdListed,omitempty"`
	// RelistingSince is when the first relist of those became visible of which each three lists were within
	// three minutes, nil if the last three weren't.
	RelistingSince *time.Time `json:"relistingSince,omitempty"`
	// ListingSince is when the list that is under way began, nil if none is.
	ListingSince *time.Time `json:"listingSince,omitempty"`
	ListSeconds  float64    `json:"listSeconds,omitempty"`
	// ListItems is how many objects the last list had, nil if there was none.
	ListItems *int `json:"listItems,omitempty"`
	// ListBytes is absent if no transport saw the responses.
	ListBytes int64  `json:"listBytes,omitempty"`
	Relisted  string `json:"relisted,omitempty"`
	LastError string `json:"lastError,omitempty"`
	// LastErrorKey and RelistedKey are the objects that the two are about, if they are about one and
	// Options.Keys is set. The texts never name it.
	LastErrorKey string `json:"lastErrorKey,omitempty"`
	RelistedKey  string `json:"relistedKey,omitempty"`

	Failures     int       `json:"failures,omitempty"`
	FailingSince time.Time `json:"failingSince,omitzero"`
	LastEvent    time.Time `json:"lastEvent,omitzero"`
	LastBookmark time.Time `json:"lastBookmark,omitzero"`
	// Mutations is nil if they aren't looked for, MutatedSince if there were none. MutatedKey is the object of
	// the last one, if Options.Keys is set.
	Mutations       *int       `json:"mutations,omitempty"`
	MutatedSince    *time.Time `json:"mutatedSince,omitempty"`
	MutatedKey      string     `json:"mutatedKey,omitempty"`
	ResourceVersion string     `json:"resourceVersion,omitempty"`
	Objects         int        `json:"objects"`
	// NotStreamed is why the last list or watch wasn't decoded while it arrived, empty if it was.
	NotStreamed string    `json:"notStreamed,omitempty"`
	Handlers    []Handler `json:"handlers"`
	// Lag is nil if it isn't known; LagUnknown is why.
	Lag        *Lag   `json:"lag,omitempty"`
	LagUnknown string `json:"lagUnknown,omitempty"`
	// Unread is why only the name, the state and Synced are known.
	Unread string `json:"unread,omitempty"`
	// Reason is why it hasn't synced or fails, in a word, see informer.SyncError.
	Reason string `json:"reason,omitempty"`
	// relisting is why the list that is under way is necessary.
	relisting string
}

// MarshalJSON leaves out counts and handlers if they aren't known: 0 would say that there are none.
func (i Informer) MarshalJSON() ([]byte, error) {
	type plain Informer // has no MarshalJSON
	if i.Unread == "" {
		return json.Marshal(plain(i))
	}
	return json.Marshal(struct {
		plain
		Lists    *int `json:"lists,omitempty"`
		Watches  *int `json:"watches,omitempty"`
		Objects  *int `json:"objects,omitempty"`
		Handlers *int `json:"handlers,omitempty"`
	}{plain: plain(i)})
}

// Handler is the state of a handler, see informer.HandlerStatus.
type Handler struct {
	Name      string `json:"name"`
	At        string `json:"at,omitempty"`
	Synced    bool   `json:"synced"`
	Busy      bool   `json:"busy"`
	Backlog   int    `json:"backlog"`
	Delivered uint64 `json:"delivered"`
	Panics    int    `json:"panics,omitempty"`
	// Panicked is when the handler last panicked. PanickingSince is when the last series of panics began, which
	// are at most ten minutes apart. Both are nil if it never has.
	Panicked       *time.Time `json:"panicked,omitempty"`
	PanickingSince *time.Time `json:"panickingSince,omitempty"`
}

// Queue is the state of a queue, see queue.Status.
type Queue struct {
	Source    string `json:"source"`
	Ready     int    `json:"ready"`
	InProcess int    `json:"inProcess"`
	// Again is the number of items in process that were added meanwhile, and will be ready when they are done.
	Again   int `json:"again"`
	Parked  int `json:"parked"`
	Delayed int `json:"delayed"`
	// NextDueSeconds is the time until the first delayed item is due, if there is one.
	NextDueSeconds *float64 `json:"nextDueSeconds,omitempty"`
	HandedOut      uint64   `json:"handedOut"`
	// StalledSince is the look since which items have been ready in each look, and none was handed out.
	StalledSince time.Time `json:"stalledSince,omitzero"`
	// LongestRunningSeconds and OldestWaitingSeconds are nil if the queue has no metrics: it knows no times.
	LongestRunningSeconds *float64 `json:"longestRunningSeconds,omitempty"`
	OldestWaitingSeconds  *float64 `json:"oldestWaitingSeconds,omitempty"`
	// RunningKey is the item that has been in process for the longest time, if Options.Keys is set.
	RunningKey string `json:"runningKey,omitempty"`
	ShutDown   bool   `json:"shutDown,omitempty"`
	// Failing counts the items in the queue that have failed twelve times in a row. FailingKey is the one that
	// has been so for the longest time, since FailingSince, and FailingError the last error that the queue
	// knows of it, if Options.Keys is set.
	Failing      int       `json:"failing"`
	FailingSince time.Time `json:"failingSince,omitzero"`
	FailingKey   string    `json:"failingKey,omitempty"`
	FailingError string    `json:"failingError,omitempty"`
	// Late counts the items that were handed out though an informer, LateFor, didn't show their own writes.
	// LateKey is the last of them, if Options.Keys is set, handed out at LateLast. LateSince is when the first
	// was of those with no more than ten minutes between two. Both times are nil if there was none, as in
	// most queues: a look allocates less.
	Late      uint64     `json:"late"`
	LateFor   string     `json:"lateFor,omitempty"`
	LateKey   string     `json:"lateKey,omitempty"`
	LateSince *time.Time `json:"lateSince,omitempty"`
	LateLast  *time.Time `json:"lateLast,omitempty"`
}

// Member is what a member of a sharded controller knows of itself and its group, see sharding.Status.
type Member struct {
	Source   string `json:"source"`
	Identity string `json:"identity"`
	// Owned are the ranges that it may act on, Giving those that it is asked to hand over.
	Owned  []string `json:"owned"`
	Giving []string `json:"giving,omitempty"`
	// Since is when Owned last changed.
	Since time.Time `json:"since,omitzero"`
	// Owners is how many members own ranges. Nobody owns the ranges in Unowned, which had UnownedObjects when
	// they were counted last; 0 may mean that nobody has counted. UnownedSince is since when these are the
	// ranges, zero if that isn't known.
	Owners         int       `json:"owners"`
	Unowned        []string  `json:"unowned,omitempty"`
	UnownedObjects int       `json:"unownedObjects,omitempty"`
	UnownedSince   time.Time `json:"unownedSince,omitzero"`
	Gained         uint64    `json:"gained"`
	Lost           uint64    `json:"lost"`
	// LostMembers are those whose ranges this member was last given, at LostAt, as their Leases had run out.
	LostMembers []string  `json:"lostMembers,omitempty"`
	LostAt      time.Time `json:"lostAt,omitzero"`
	Started     bool      `json:"started"`
	// Running and Waiting count work, Hung that which doesn't end and keeps its range from moving.
	Running int `json:"running"`
	Waiting int `json:"waiting"`
	Hung    int `json:"hung,omitempty"`
	// Error is why it may begin no work. ErrorKey is the object that it is about, if it is about one and
	// Options.Keys is set. The text never names it.
	Error    string `json:"error,omitempty"`
	ErrorKey string `json:"errorKey,omitempty"`
}

// addInformers returns false if all of them have stopped.
func (s *Snapshot) addInformers(source string, statuses []informer.Status) (runs bool) {
	runs = len(statuses) == 0
	for n := range statuses {
		runs = runs || statuses[n].State != informer.Stopped
		i := s.informerOf(source, &statuses[n])
		if i.State == "" || i.State == string(informer.Stopped) && i.Form == "" { // as StatusOf returns of others
			i = Informer{Source: source, Name: i.Name, State: i.State, Synced: i.Synced, Handlers: i.Handlers,
				Unread: "the informer isn't one of kubewright's"}
		}
		s.Informers = append(s.Informers, i)
		if find := statuses[n].Find; find != nil {
			s.finds = append(s.finds, finder{source, statuses[n].Name, find})
		}
	}
	return runs
}

func (snapshot *Snapshot) informerOf(source string, s *informer.Status) Informer {
	i := Informer{
		Source: source, Name: s.Name, Group: s.Resource.Group, Version: s.Resource.Version,
		Resource: s.Resource.Resource, Namespace: s.Namespace, LabelSelector: s.LabelSelector,
		FieldSelector: snapshot.selectorOf(s.FieldSelector), Form: formOf(s.Type), Dropped: s.Dropped,
		Indexes: s.Indexes, State: string(s.State),
		Since: s.Since, Synced: s.Synced, Listed: s.Listed, Lists: s.Lists, Watches: s.Watches,

		ListSeconds: s.ListTook.Seconds(), Failures: s.Failures,
		FailingSince: s.FailingSince, LastEvent: s.LastEvent, LastBookmark: s.LastBookmark,
		ResourceVersion: s.ResourceVersion, Objects: s.Objects, NotStreamed: s.Reading.NotStreamed,
		Handlers: make([]Handler, 0, len(s.Handlers)),
	}
	if !s.Synced || s.Failures > 0 {
		unsynced := *s
		unsynced.Synced = false // An informer that has synced may fail, too.
		i.Reason = unsynced.NotSynced().Reason
	}
	if !s.Listed.IsZero() {
		i.ListItems, i.ListBytes = new(s.ListItems), s.Reading.ListBytes
	}
	if !s.RelistingSince.IsZero() {
		i.RelistingSince = new(s.RelistingSince)
	}
	if third := s.RecentLists[0]; !third.IsZero() {
		i.ThirdListed = &third
	}
	if s.FindsMutations || s.Mutations > 0 {
		i.Mutations = new(s.Mutations)
	}
	if s.Mutations > 0 {
		i.MutatedSince = new(s.MutatedSince)
	}
	if !s.ListingSince.IsZero() {
		i.ListingSince = new(s.ListingSince)
		i.relisting, _ = snapshot.textOf(s.Relisting)
	}
	i.Lag, i.LagUnknown = lagOf(s, snapshot.asked)
	if snapshot.keys {
		i.MutatedKey = s.MutatedObject
	}
	i.LastError, i.LastErrorKey = snapshot.textOf(s.LastError)
	i.Relisted, i.RelistedKey = snapshot.textOf(s.Relisted)
	for _, h := range s.Handlers {
		i.Handlers = append(i.Handlers, Handler(h))
	}
	return i
}

// textOf returns the text of an error, without the name of an object that it is about, and that object's key
// if keys may be shown.
func (snapshot *Snapshot) textOf(err error) (text, key string) {
	if err == nil {
		return "", ""
	}
	text = err.Error()
	if !snapshot.keys {
		text = withoutURLs(text, err)
	}
	var decoding *listwatch.DecodingError
	var status apierrors.APIStatus
	switch {
	case errors.As(err, &decoding):
		unnamed := *decoding
		unnamed.Namespace, unnamed.Name = "", ""
		text, key = unnamed.Error(), strings.TrimPrefix(decoding.Namespace+"/"+decoding.Name, "/")
	case errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Name != "":
		key = status.Status().Details.Name
		text = unnamed(text, key)
	}
	if !snapshot.keys {
		key = ""
	}
	return text, key
}

// withoutURLs replaces the URLs of requests in the text of an error by those of collections.
func withoutURLs(text string, err error) string {
	if request, ok := err.(*url.Error); ok {
		text = strings.ReplaceAll(text, strconv.Quote(request.URL), strconv.Quote(collectionOf(request.URL)))
	}
	switch err := err.(type) {
	case interface{ Unwrap() error }:
		text = withoutURLs(text, err.Unwrap())
	case interface{ Unwrap() []error }:
		for _, one := range err.Unwrap() {
			text = withoutURLs(text, one)
		}
	}
	return text
}

// collectionOf returns a URL without its query, and with the path of the collection in it, if there is one:
// all else may name objects.
func collectionOf(request string) string {
	u, err := url.Parse(request)
	if err != nil {
		return "(URL)"
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: collection.FindString(u.Path)}
	return shown.String()
}

// collection matches the path of a collection, below a path that all requests to a server may have.
var collection = regexp.MustCompile(`^.*?/(api/[^/]+|apis/[^/]+/[^/]+)(/namespaces/[^/]+)?/[^/]+`)

// unnamed replaces the name of an object in a text, but not its letters inside of other words.
func unnamed(text, name string) string {
	pattern := regexp.QuoteMeta(name)
	if wordEnds.MatchString(name) {
		pattern = `\b` + pattern + `\b`
	}
	re, err := regexp.Compile(pattern)
	if err != nil { // The name is no valid UTF-8.
		return strings.ReplaceAll(text, name, "(name)")
	}
	return re.ReplaceAllLiteralString(text, "(name)")
}

// wordEnds matches names that begin and end like a word, as most do.
var wordEnds = regexp.MustCompile(`(?s)^\w(.*\w)?$`)

// selectorOf returns a selector of fields, without the name of an object if that may not be shown.
func (snapshot *Snapshot) selectorOf(fields string) string {
	if snapshot.keys || !strings.Contains(fields, "metadata.name") {
		return fields
	}
	terms := strings.Split(fields, ",")
	for n, term := range terms {
		name, _, _ := strings.Cut(term, "=")
		if name == "metadata.name" || name == "metadata.name!" {
			terms[n] = name + "=(name)"
		}
	}
	return strings.Join(terms, ",")
}

// formOf returns the form of objects of a type.
func formOf(goType string) string {
	switch {
	case goType == "":
		return ""
	case strings.HasSuffix(goType, ".PartialObjectMetadata"):
		return "metadata"
	case strings.HasSuffix(goType, ".Unstructured"):
		return "unstructured"
	}
	return "typed"
}

// addQueue returns false if the queue was shut down and is empty. Then it adds nothing: nobody waits for it,
// and it may never have been anybody's, as the one by which kwctrl.OwnWrites tries a NewQueue.
func (s *Snapshot) addQueue(source string, q queue.Status) (runs bool) {
	if q.ShutDown && q.Ready+q.InProcess+q.Again+q.Parked == 0 {
		return false
	}
	one := Queue{
		Source: source, Ready: q.Ready, InProcess: q.InProcess, Again: q.Again, Parked: q.Parked,
		Delayed: q.Delayed, HandedOut: q.HandedOut, ShutDown: q.ShutDown, Failing: q.Failing,
		Late: q.Late, LateFor: q.LateCause,
	}
	if q.Failing > 0 {
		one.FailingSince = s.Taken.Add(-q.FailingFor)
	}
	if q.Late > 0 {
		one.LateSince, one.LateLast = new(s.Taken.Add(-q.FirstLateAgo)), new(s.Taken.Add(-q.LateAgo))
	}
	if s.keys {
		one.RunningKey, one.LateKey, one.FailingKey = keyOf(q.RunningItem), keyOf(q.LateItem), keyOf(q.FailingItem)
		one.FailingError = q.FailingError
	}
	if q.Delayed > 0 {
		one.NextDueSeconds = new(q.NextDue.Seconds())
	}
	if q.Timed {
		one.LongestRunningSeconds = new(q.LongestRunning.Seconds())
		one.OldestWaitingSeconds = new(q.OldestWaiting.Seconds())
	}
	s.Queues = append(s.Queues, one)
	return true
}

// keyOf returns the text of a queue's item, empty if there is none.
func keyOf(item any) string {
	if item == nil {
		return ""
	}
	return fmt.Sprint(item)
}
