// Package transforms applies transform functions of informers, and remembers under which keys the transformed
// objects are stored.
//
// An informer applies an event as a whole or not at all. To delete an object, or to replace it by a state
// that has another key or that isn't cached, it needs only the key under which the object is stored: [Names]
// knows it, whether or not the transform accepts the new state.
package transforms
