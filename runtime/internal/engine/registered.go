package engine

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// registering are the functions that are between a program that adds a handler and the engine.
var registering = []string{
	"github.com/kubewright/kubewright/runtime/internal/engine.",
	"github.com/kubewright/kubewright/runtime/informer.", "github.com/kubewright/kubewright/runtime/cache.",
	"k8s.io/client-go/tools/cache.",
}

// registeredAt returns the file and the line of the call that adds a handler, "" if the stack doesn't have
// it.
func registeredAt() string {
	callers := make([]uintptr, 16)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
next:
	for {
		frame, more := frames.Next()
		for _, ours := range registering {
			if strings.HasPrefix(frame.Function, ours) && more {
				continue next
			}
		}
		if frame.Function == "" {
			return ""
		}
		return fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line)
	}
}
