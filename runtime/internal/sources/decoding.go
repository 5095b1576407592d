package sources

// Decoding is how a source decodes objects that it streams, see the fields of informer.Options.
type Decoding struct {
	Drop                                     []string
	MetadataOnly, ShareValues, KeepUnchanged bool
	NoServerDrop                             bool
	MaxObject                                int
	// Off turns streams off.
	Off bool
}
