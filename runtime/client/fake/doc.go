// Package fake is what generated fake clientsets delegate to. Its clients send
// nothing: each call is recorded as an action of a testing.Fake, whose reactors
// answer it. The types and functions mirror those of package client.
//
// Actions equal those of client-go's fakes, so that tests which look at
// Fake.Actions(), or register reactors by verb, resource and sub-resource, see
// what they expect. What the reactors leave unanswered returns an empty object.
package fake
