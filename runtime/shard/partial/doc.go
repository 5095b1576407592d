// Package partial makes informers cache a part of their objects, in ranges of hashes that may change while
// they run. Package sharding uses it to divide objects among the replicas of a controller. Programs that
// don't import it link none of it.
package partial
