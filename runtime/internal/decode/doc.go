// Package decode decodes the responses of API servers, in JSON or protobuf, into typed
// objects while they arrive: lists item by item, watches event by event. It keeps neither
// the bytes nor the items of a response: the bytes go through a window, which holds a
// whole response only if that is small.
//
// # What it accepts and returns
//
// For JSON, the same as [sigs.k8s.io/json.UnmarshalCaseSensitivePreserveInts], which is
// the decoder of Kubernetes' JSON serializer. Names match fields by case. Unknown names
// are skipped, but must be well-formed. A null clears pointers, maps, slices and interfaces,
// and leaves other values alone. Integers of untyped values stay integers. Invalid UTF-8
// becomes U+FFFD. If a name comes twice, the second value is decoded onto the first. A type with
// an UnmarshalJSON method gets its text. Rare shapes (the string option of json tags, maps
// with keys other than strings, arrays, json.Number) are left to that decoder.
//
// For protobuf, the same as the types' own Unmarshal methods. Messages of types of
// k8s.io/api and k8s.io/apimachinery, as encoders write them, are decoded here by the tags
// of the fields. Other types, and unusual or broken messages, are decoded by those methods;
// a panic of such a method counts as an error in the message. Dropped fields are skipped by
// their length: unlike in JSON, their content isn't checked.
//
// Unstructured objects and their lists, in JSON only, are decoded as
// [k8s.io/apimachinery/pkg/apis/meta/v1/unstructured.UnstructuredJSONScheme] decodes them into an
// Unstructured and an UnstructuredList, with one exception: a list that has its items, its kind or
// its version twice is an error here.
//
// # How it works
//
// A [Decoder] compiles a plan for each type when it first meets the type. The plan
// remembers which field followed which, because API servers write the fields of all
// objects of a kind in the same order. An item is decoded straight from the window that
// the response is read into (input.go). If the item hasn't arrived completely, decoding it
// starts over when it has. So the decoder never waits in the middle of an object, and its
// functions are plain recursive ones.
//
// Strings that repeat from object to object are shared (intern.go). The package uses
// unsafe; unsafe.go states the rules for it.
//
//	Decoder           one type; its streams take turns
//	├── jsonDecoder   values of JSON, by plans        values.go, containers.go, plan.go
//	│   │             or without a type               untyped.go, unstructured.go
//	│   └── scanner   tokens of JSON                  scanner.go
//	├── protoDecoder  messages, by messagePlans       message.go, messageplan.go
//	└── reader        one stream                      decoder.go, input.go, wanted.go
//	    ├── list      a list in JSON                  list.go
//	    ├── protobufList                              protobuf.go
//	    └── Events    a watch                         events.go, protobuf.go, times.go
package decode
