// Package decode turns what API servers send, JSON or protobuf, into typed
// objects as it arrives: lists item by item, watches event by event. Neither
// exists as one piece, as bytes or as a slice of items.
//
// # What it accepts and gives
//
// Exactly what [sigs.k8s.io/json.UnmarshalCaseSensitivePreserveInts] does, the
// decoder behind Kubernetes' JSON serializer: names match fields by case,
// unknown names are skipped (but must be well-formed), null leaves values alone
// and clears pointers, maps, slices and interfaces, integers of untyped values
// stay integers, invalid UTF-8 becomes U+FFFD, a later duplicate of a name is
// decoded onto the earlier. What has an UnmarshalJSON of its own is given its
// bytes. The rare shapes that this package doesn't know (the string option of
// json tags, maps keyed by anything but strings, arrays, json.Number) are
// handed to that decoder.
//
// Protobuf gives what the types' own Unmarshal methods give. What encoders write
// for the types of k8s.io/api and k8s.io/apimachinery is decoded here, by the
// tags of their fields; everything else, be it another type or a message that is
// unusual or broken, by those methods. A method that panics makes the message
// broken. What is dropped is passed over by its length: whether the content is
// well-formed isn't looked at, other than in JSON.
//
// # How
//
// A [Decoder] compiles what it needs to know of a type when it first meets it,
// and remembers which field followed which: API servers write the fields of all
// objects of a kind in one order. An item is decoded straight from the buffer
// that the response is read into. One that isn't there completely is begun
// again when it is, so that nothing ever waits in the middle of an object.
//
// Strings that repeat from object to object are shared. A bounded table holds
// the candidates; see [Decoder].
package decode
