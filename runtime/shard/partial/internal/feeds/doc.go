// Package feeds keeps a sink equal to the server's objects in some ranges of hashes. The ranges may change
// while it runs.
//
// A [Group] reads the objects by feeds, usually by one. A feed is a reflector with its own ranges and its own
// position, a resourceVersion. Its requests carry a selector of its ranges.
//
//   - Fewer ranges: each feed's ranges shrink at once, and objects outside of them leave the sink. Nothing is
//     listed. An open watch stays: its events of other hashes are dropped, and the next watch requests less.
//   - More ranges: a new feed lists the added ranges, from the newest state, and watches them.
//   - Two feeds become one: both stop, and a new one watches the ranges of both from the version of the feed
//     that was behind. The version of the other feed becomes the watermark of that feed's ranges: until the
//     new feed has passed it, events there up to it are dropped, because the sink has them already.
//     Resuming from an old version could cost a list of everything, so feeds are joined only when each has
//     passed the version of the other's list. If the server doesn't filter watches, each feed receives
//     everything and is up to date, so feeds are joined as soon as both have listed. Feeds of a fake
//     clientset, whose objects have no versions, are never joined.
//   - The server may ignore a selector, so every object is checked by its hash. An object outside of its
//     request's selector shows that the server doesn't filter; only statuses and the time of joining depend
//     on that.
package feeds
