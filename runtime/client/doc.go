// Package client makes typed clients of resources for which nothing was generated, see [For]. Generated
// clients are made of package runtime/gen/client, which programs don't import.
package client
