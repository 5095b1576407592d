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
	"github.com/kubewright/kubewright/runtime/factory/namespaces.",
	"github.com/kubewright/kubewright/contrib/controller-runtime.",
	"k8s.io/client-go/tools/cache.", "sigs.k8s.io/controller-runtime/",
}

// registeredAt returns the file and the line of the call that adds a handler, "" if the stack doesn't have
// it, as for a handler that joins the informer of another namespace later.
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
		if frame.Function == "" || strings.HasPrefix(frame.Function, "runtime.") {
			return ""
		}
		return fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line)
	}
}
