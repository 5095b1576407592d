package client

// Option changes how a client made by [For] sends requests.
type Option struct {
	prefersProtobuf bool
	resource        string
}

// ResourceName sets the name of the resource in URLs, which is the plural of its kind. Irregular nouns need
// it.
func ResourceName(name string) Option { return Option{resource: name} }

// PrefersProtobuf makes requests send and accept protobuf, unless the configuration of the REST client sets a
// content type. It is for built-in types: custom resources have no encoding in protobuf.
func PrefersProtobuf() Option { return Option{prefersProtobuf: true} }
