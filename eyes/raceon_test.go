//go:build race

package eyes_test

func init() { racing = true }
