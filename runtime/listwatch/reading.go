package listwatch

// Reading is how an informer has read its lists and watches.
type Reading struct {
	// Streamed counts the pages of lists and the watches that were read as streams, Whole
	// those that the client decoded. Of these, Unseen counts those that could have been
	// streams but were not seen by a transport: [Wrap] isn't installed in the HTTP client, or
	// the list function doesn't pass on its context.
	Streamed, Whole, Unseen int
	// NotStreamed is why the last page or watch wasn't read as a stream, "" if it was. It doesn't name an
	// object; Status.LastError of an informer does.
	NotStreamed string
	// DropSent is set if the last request of a list or watch asked the server to leave
	// metadata.managedFields out, see Drop of informer.Options. Its answer doesn't say whether it did.
	DropSent bool
	// ListBytes is how long the bodies of the last list were, after decompression, all pages together, as far as
	// a transport saw them. Of a list that is sent as events, some of the first changes may be counted, too.
	ListBytes int64
}
