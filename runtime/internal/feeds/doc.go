// Package feeds keeps a sink equal to the server's objects in some ranges of hashes, which change while it
// runs.
//
// A [Group] reads them by feeds. A feed is a reflector with ranges and a position of its own, whose requests
// carry a selector of its ranges. Mostly there is one.
//
//   - Fewer ranges: each feed's ranges shrink at once, and what left goes out of the sink. Nothing is listed.
//     An open watch stays; what it brings of other hashes is dropped, and the next watch asks for less.
//   - More ranges: a feed of its own lists the added ranges, from the newest state, and watches them.
//   - Two feeds become one: both stop, and a new one watches the ranges of both from the version of the one
//     that is behind. It drops what the other had brought already: until the new feed has passed that
//     version, this is the floor of its ranges. Resuming from a version that is long past could cost a list
//     of everything, so feeds wait until each has passed the other's list. A server that doesn't filter
//     watches sends everything on each of them, so each is up to date: then feeds become one as soon as both
//     have listed. Feeds of a fake clientset, whose objects have no versions, stay as they are.
//   - A selector is a wish. Every object is checked by its hash, whoever sent it. What arrives although no
//     selector asked for it shows that the server doesn't filter; only statuses and the moment of joining
//     depend on that.
package feeds
