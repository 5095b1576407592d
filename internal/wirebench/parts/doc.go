// Package parts measures the cost of an informer of a part of 200,000 custom resources of 1 KB. It is
// separate from internal/wirebench because it takes long, and is a part of its own of make bench.
package parts
