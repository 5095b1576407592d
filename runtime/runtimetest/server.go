package runtimetest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// Object is an API object.
type Object interface {
	runtime.Object
	metav1.Object
}

// Server is an API server in memory for one resource, with objects of type T and lists of type L. It has the
// List and Watch methods of a generated typed client, so informers accept it as their client. Requests may
// select objects by labels, by the fields metadata.name and metadata.namespace, and, after Sharding, by shard
// selectors. A request for one namespace selects it by the field metadata.namespace.
//
// It is safe for concurrent use.
type Server[T Object, L runtime.Object] struct {
	newObject func() T
	newList   func() L

	mu      sync.Mutex
	version int64
	// compacted is the version at which the history begins, base the objects at that version.
	compacted int64
	base      map[string]T
	history   []change[T]
	objects   map[string]T
	streams   map[*stream]struct{}
	created   int

	faults   faults
	requests []Request
}

// change is a write. object is the written object; for a deletion it is the last state, with
// the version of the deletion. before is the object before the write, if there was one.
type change[T Object] struct {
	version        int64
	kind           watch.EventType
	object, before T
}

// event returns the event of the change on a watch. An object that moves into the selection is
// added. An object that moves out of it is deleted: in its last selected state, with the version
// of the change. ok is false if the object wasn't and isn't selected.
func (c change[T]) event(selected selection) (e watch.Event, ok bool) {
	was := c.kind != watch.Added && selected.matches(c.before)
	is := c.kind != watch.Deleted && selected.matches(c.object)
	obj := c.object
	switch {
	case was && is:
		e.Type = watch.Modified
	case is:
		e.Type = watch.Added
	case was:
		e.Type, obj = watch.Deleted, c.before
	default:
		return e, false
	}
	obj = obj.DeepCopyObject().(T)
	obj.SetResourceVersion(format(c.version))
	e.Object = obj
	return e, true
}

// NewServer returns a server without objects. Pass only the struct types:
// NewServer[corev1.ConfigMap, corev1.ConfigMapList]().
func NewServer[TV, LV any, T interface {
	*TV
	Object
}, L interface {
	*LV
	runtime.Object
}]() *Server[T, L] {
	// The first version is high so that a test can't mistake a count for a version.
	const first = 100
	return &Server[T, L]{
		newObject: func() T { return new(TV) },
		newList:   func() L { return new(LV) },
		version:   first,
		compacted: first,
		base:      map[string]T{},
		objects:   map[string]T{},
		streams:   map[*stream]struct{}{},
	}
}

// Version returns the current version of the server.
func (s *Server[T, L]) Version() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return format(s.version)
}

// Create creates an object, with a new UID, and returns its version. An object of that name
// must not exist.
func (s *Server[T, L]) Create(obj T) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := keyOf(obj)
	if _, exists := s.objects[key]; exists {
		panic(fmt.Sprintf("runtimetest: %s exists", key))
	}
	obj = obj.DeepCopyObject().(T)
	s.created++
	obj.SetUID(types.UID(fmt.Sprintf("uid-%d", s.created)))
	return s.write(watch.Added, obj)
}

// Update replaces the object of obj's name, which must exist.
func (s *Server[T, L]) Update(obj T) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.mustHave(keyOf(obj))
	obj = obj.DeepCopyObject().(T)
	obj.SetUID(old.GetUID())
	return s.write(watch.Modified, obj)
}

// Delete removes an object, which must exist.
func (s *Server[T, L]) Delete(namespace, name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.write(watch.Deleted, s.mustHave(join(namespace, name)).DeepCopyObject().(T))
}

// Objects returns copies of the objects, sorted by namespace and name.
func (s *Server[T, L]) Objects() []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return sorted(s.objects)
}

// Find returns a copy of the object of a name. It returns false if there is none.
func (s *Server[T, L]) Find(namespace, name string) (obj T, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if obj, ok = s.objects[join(namespace, name)]; ok {
		obj = obj.DeepCopyObject().(T)
	}
	return obj, ok
}

// Compact drops the history: watches from earlier versions, and further pages of earlier
// lists, have expired. Call it from time to time in a long test, since the server remembers
// every write.
func (s *Server[T, L]) Compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.compacted, s.base, s.history = s.version, maps.Clone(s.objects), nil
}

// Skip raises the version by n without a write to this resource, as writes to other resources do.
func (s *Server[T, L]) Skip(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version += n
}

func (s *Server[T, L]) mustHave(key string) T {
	obj, exists := s.objects[key]
	if !exists {
		panic(fmt.Sprintf("runtimetest: %s doesn't exist", key))
	}
	return obj
}

// write takes ownership of obj.
func (s *Server[T, L]) write(kind watch.EventType, obj T) string {
	s.version++
	obj.SetResourceVersion(format(s.version))
	key := keyOf(obj)
	c := change[T]{version: s.version, kind: kind, object: obj, before: s.objects[key]}
	if kind == watch.Deleted {
		delete(s.objects, key)
	} else {
		s.objects[key] = obj
	}
	s.history = append(s.history, c)
	for w := range s.streams {
		if e, ok := c.event(w.selected); ok {
			w.push(c.version, e)
		}
	}
	return format(s.version)
}

// at returns the state of the server at a version that it has reached.
func (s *Server[T, L]) at(version int64) map[string]T {
	if version == s.version {
		return s.objects
	}
	objects := maps.Clone(s.base)
	for _, c := range s.history {
		if c.version > version {
			break
		}
		if c.kind == watch.Deleted {
			delete(objects, keyOf(c.object))
		} else {
			objects[keyOf(c.object)] = c.object
		}
	}
	return objects
}

func sorted[T Object](objects map[string]T) []T {
	result := make([]T, 0, len(objects))
	for _, key := range slices.Sorted(maps.Keys(objects)) {
		result = append(result, objects[key].DeepCopyObject().(T))
	}
	return result
}

func keyOf(obj metav1.Object) string { return join(obj.GetNamespace(), obj.GetName()) }

func join(namespace, name string) string { return namespace + "/" + name }

func format(version int64) string { return strconv.FormatInt(version, 10) }
