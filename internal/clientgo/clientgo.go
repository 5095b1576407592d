// Package clientgo has what this project knows about unexported types and fields of client-go. Reflection
// finds them by name. Where a version of client-go has other names, informers still work, but some decode
// whole responses: Reading.NotStreamed of their Status says why.
//
// The tests fail with each new minor of client-go, and say what has to be read again.
package clientgo

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
)

// The paths are texts because imports would link these packages into every program.
const (
	cachePackage    = "k8s.io/client-go/tools/cache"
	typedPackages   = "k8s.io/client-go/kubernetes/typed/"
	dynamicPackage  = "k8s.io/client-go/dynamic"
	metadataPackage = "k8s.io/client-go/metadata"
)

// Converts returns why client may convert objects or set defaults in them, or "" if it returns objects as the
// server sends them, as generated clients do. Only the type of its serializer, in its field content, shows
// that.
func Converts(client *rest.RESTClient) (reason string) {
	return converts(reflect.ValueOf(client).Elem().FieldByName("content"))
}

func converts(content reflect.Value) (reason string) {
	switch {
	case !content.IsValid():
		return "rest.RESTClient of this version of client-go has no field named content"
	case !holds(content, reflect.TypeFor[serializer.WithoutConversionCodecFactory](), 6):
		return "the REST client converts objects"
	}
	return ""
}

// holds reports whether there is a value of type want in v, or in values that v refers to, at most that many
// steps away.
func holds(v reflect.Value, want reflect.Type, steps int) bool {
	if v.Type() == want {
		return true
	}
	if steps == 0 {
		return false
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return !v.IsNil() && holds(v.Elem(), want, steps-1)
	case reflect.Struct:
		for i := range v.NumField() {
			if holds(v.Field(i), want, steps-1) {
				return true
			}
		}
	}
	return false
}

// Untyped returns the informer inside client-go's own typed informer, whose type isn't exported and has no
// method that returns the inner one. If ok is false, it is something else, or reason says why the informer
// inside can't be found.
func Untyped(informer any) (inside any, ok bool, reason string) {
	v := reflect.ValueOf(informer)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Type().Elem().PkgPath() != cachePackage ||
		!strings.HasPrefix(v.Type().Elem().Name(), "typedSharedIndexInformer[") {
		return nil, false, ""
	}
	return untyped(v.Elem().FieldByName("SharedIndexInformer"))
}

func untyped(field reflect.Value) (inside any, ok bool, reason string) {
	if !field.IsValid() {
		return nil, false,
			"the typed informer of this version of client-go has no field named SharedIndexInformer"
	}
	return field.Interface(), true, ""
}

// IsTypedClient reports whether a client is of one of the types of client-go's clientset, not of a type that
// embeds one.
func IsTypedClient(client any) bool {
	path, _ := nameOf(client)
	return strings.HasPrefix(path, typedPackages)
}

// ReturnsAsSent reports whether the client of a resource returns objects exactly as the server sends them, as
// the clients of client-go's packages dynamic and metadata do. Wrappers and fakes, of the clientset or of the
// client of the resource, may change objects. A nil clientset is not known.
func ReturnsAsSent(clientset, resource any) bool {
	switch path, name := nameOf(resource); {
	case path == dynamicPackage && name == "dynamicResourceClient":
		return isOf(clientset, dynamicPackage, "DynamicClient")
	case path == metadataPackage && name == "client":
		return isOf(clientset, metadataPackage, "Client")
	}
	return false
}

func isOf(clientset any, wantPath, wantName string) bool {
	path, name := nameOf(clientset)
	return clientset == nil || path == wantPath && name == wantName
}

// nameOf returns the package's path and the name of the type that v points to.
func nameOf(v any) (path, name string) {
	t := reflect.TypeOf(v)
	if t == nil || t.Kind() != reflect.Pointer {
		return "", ""
	}
	return t.Elem().PkgPath(), t.Elem().Name()
}
