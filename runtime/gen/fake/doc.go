// Package fake has the parts of generated fake clientsets. Its clients send nothing: they record each call as
// an action of a testing.Fake, whose reactors answer it. The types and functions mirror those of package
// client.
//
// Actions equal those of client-go's fakes, so tests that check Fake.Actions(), or
// register reactors by verb, resource and subresource, work unchanged. A call that no
// reactor answers returns an empty object.
//
// Trackers that [Resources] makes find objects of kinds whose resource can't be guessed.
package fake
