package ownwrites_test

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/go-logr/logr"
)

// sink is a log.
type sink struct {
	mu sync.Mutex
	to *bytes.Buffer
}

func (s *sink) Init(logr.RuntimeInfo)          {}
func (s *sink) Enabled(int) bool               { return true }
func (s *sink) WithValues(...any) logr.LogSink { return s }
func (s *sink) WithName(string) logr.LogSink   { return s }
func (s *sink) Error(error, string, ...any)    {}
func (s *sink) Info(_ int, message string, kv ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintln(s.to, append([]any{message}, kv...)...)
}
