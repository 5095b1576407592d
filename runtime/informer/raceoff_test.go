//go:build !race

package informer_test

// raceDetector says that the race detector is on.
const raceDetector = false
