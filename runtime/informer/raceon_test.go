//go:build race

package informer_test

// raceDetector is whether the race detector is on.
const raceDetector = true
