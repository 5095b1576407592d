package clientsource

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// responseKinds are the kinds of the responses that a source reads as streams: those of the
// type of its objects. Others are left to the client, which decodes them with its scheme or
// reports an error.
type responseKinds struct {
	// objects and lists are the kinds. For unstructured objects of any kind both are empty.
	objects, lists []metav1.TypeMeta
	// protobuf means that these kinds have an encoding in protobuf.
	protobuf bool
	// events is what happens to the kind of a watch's object.
	events kindPolicy
	// kind is that of all objects, with setKind.
	kind metav1.TypeMeta
}

// kindPolicy is what happens to the kind that the server sent with the object of an event.
type kindPolicy int

const (
	// clearKind is what client-go's typed and metadata clients do.
	clearKind kindPolicy = iota
	// keepKind is what clients of unstructured objects do.
	keepKind
	// setKind gives all objects one kind, also the items of lists.
	setKind
)

// kindsOfClient returns the kinds to stream for a resource of a generated client.
func kindsOfClient(client *rest.RESTClient, item, list reflect.Type) *responseKinds {
	return &responseKinds{
		objects:  []metav1.TypeMeta{typeMeta(client.APIVersion().WithKind(item.Elem().Name()))},
		lists:    []metav1.TypeMeta{typeMeta(client.APIVersion().WithKind(list.Elem().Name()))},
		protobuf: isProtobufList(list.Elem()),
	}
}

// kindsInScheme returns the kinds to stream for objects like example: the kinds under which the
// scheme registers the example's type, or only the example's own kind, if it has one. It returns
// nil if there are none; notStreamed is the reason.
func kindsInScheme(example any, scheme *runtime.Scheme) (k *responseKinds, notStreamed string) {
	obj, ok := example.(runtime.Object)
	if !ok || reflect.TypeOf(example).Kind() != reflect.Pointer {
		return nil, "there is no example of the objects"
	}
	if reflect.ValueOf(example).IsNil() {
		obj = reflect.New(reflect.TypeOf(example).Elem()).Interface().(runtime.Object)
	}
	own := obj.GetObjectKind().GroupVersionKind()
	if k := kindsOfType(reflect.TypeOf(obj), own); k != nil {
		return k, ""
	}
	if scheme == nil {
		return nil, "there is no scheme"
	}
	kinds, _, err := scheme.ObjectKinds(obj)
	if err != nil {
		return nil, err.Error()
	}
	if !own.Empty() {
		kinds = slices.DeleteFunc(kinds, func(kind schema.GroupVersionKind) bool { return kind != own })
	}
	k = &responseKinds{protobuf: true}
	for _, kind := range kinds {
		listKind := kind.GroupVersion().WithKind(kind.Kind + "List")
		list := scheme.AllKnownTypes()[listKind]
		if list == nil || !isList(reflect.PointerTo(list), reflect.TypeOf(obj).Elem()) {
			continue
		}
		k.objects = append(k.objects, typeMeta(kind))
		k.lists = append(k.lists, typeMeta(listKind))
		k.protobuf = k.protobuf && isProtobufList(list)
	}
	if len(k.objects) == 0 {
		return nil, fmt.Sprintf("the scheme has no lists of %T", example)
	}
	return k, ""
}

// kindsOfType returns the kinds to stream for the types that need no scheme: unstructured
// objects and metadata. kind is that of the informer's example, if it has one. It returns nil
// for all other types.
func kindsOfType(t reflect.Type, kind schema.GroupVersionKind) *responseKinds {
	switch t {
	case reflect.TypeFor[*unstructured.Unstructured]():
		k := &responseKinds{events: keepKind}
		if !kind.Empty() {
			k.objects = []metav1.TypeMeta{typeMeta(kind)}
			k.lists = []metav1.TypeMeta{typeMeta(kind.GroupVersion().WithKind(kind.Kind + "List"))}
		}
		return k
	case reflect.TypeFor[*metav1.PartialObjectMetadata]():
		v1 := metav1.SchemeGroupVersion
		k := &responseKinds{
			objects:  []metav1.TypeMeta{typeMeta(v1.WithKind("PartialObjectMetadata"))},
			lists:    []metav1.TypeMeta{typeMeta(v1.WithKind("PartialObjectMetadataList"))},
			protobuf: true,
		}
		if !kind.Empty() {
			k.events, k.kind = setKind, typeMeta(kind)
		}
		return k
	}
	return nil
}

func typeMeta(kind schema.GroupVersionKind) metav1.TypeMeta {
	version, name := kind.ToAPIVersionAndKind()
	return metav1.TypeMeta{Kind: name, APIVersion: version}
}

// list reports whether a list of a kind is streamed.
func (k *responseKinds) list(kind metav1.TypeMeta) bool {
	if len(k.lists) > 0 {
		return slices.Contains(k.lists, kind)
	}
	return kind.APIVersion != "" && strings.HasSuffix(kind.Kind, "List")
}

// object reports whether an object of a kind is streamed.
func (k *responseKinds) object(kind metav1.TypeMeta) bool {
	if len(k.objects) > 0 {
		return slices.Contains(k.objects, kind)
	}
	return kind.APIVersion != "" && kind.Kind != "" &&
		!isTable(schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind))
}

// kindOf returns the kind that an object has.
func kindOf(obj runtime.Object) metav1.TypeMeta {
	switch kind := obj.GetObjectKind().(type) {
	case *metav1.TypeMeta:
		return *kind
	case *unstructured.Unstructured:
		return metav1.TypeMeta{Kind: kind.GetKind(), APIVersion: kind.GetAPIVersion()}
	default:
		return typeMeta(kind.GroupVersionKind())
	}
}

// setKindOf sets the kind of obj.
func setKindOf(obj runtime.Object, kind metav1.TypeMeta) {
	if own, ok := obj.GetObjectKind().(*metav1.TypeMeta); ok {
		*own = kind
		return
	}
	obj.GetObjectKind().SetGroupVersionKind(kind.GroupVersionKind())
}

// listed sets the kind of an object of a list according to the policy.
func (k *responseKinds) listed(obj any) {
	if o, ok := obj.(runtime.Object); ok && k.events == setKind {
		setKindOf(o, k.kind)
	}
}

// watched sets the kind of an event's object according to the policy.
func (k *responseKinds) watched(obj runtime.Object) {
	switch k.events {
	case clearKind:
		setKindOf(obj, metav1.TypeMeta{})
	case setKind:
		setKindOf(obj, k.kind)
	}
}

// isProtobufList reports whether the metadata and the items of a list have the usual field
// numbers in protobuf, 1 and 2.
func isProtobufList(list reflect.Type) bool {
	metadata, ok := list.FieldByName("ListMeta")
	items, _ := list.FieldByName("Items")
	return ok && len(items.Index) == 1 && strings.HasPrefix(metadata.Tag.Get("protobuf"), "bytes,1,opt,") &&
		strings.HasPrefix(items.Tag.Get("protobuf"), "bytes,2,rep,")
}

// isList reports whether a list is a pointer to a struct with a field Items of a type.
func isList(list, item reflect.Type) bool {
	if list.Kind() != reflect.Pointer || list.Elem().Kind() != reflect.Struct {
		return false
	}
	items, ok := list.Elem().FieldByName("Items")
	if !ok || items.Type.Kind() != reflect.Slice {
		return false
	}
	name, _, _ := strings.Cut(items.Tag.Get("json"), ",")
	elem := items.Type.Elem()
	return name == "items" && (elem == item || elem == reflect.PointerTo(item))
}
