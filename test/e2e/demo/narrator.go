package main

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/client-go/tools/cache"
)

// narrator is the controller's log sink. It prints each line, and keeps it so that the story can wait for it.
type narrator struct {
	mu    sync.Mutex
	lines map[string]int // how often each line was logged without being expected yet
	news  chan struct{}  // closed and replaced at each line
}

func newNarrator() *narrator {
	return &narrator{lines: map[string]int{}, news: make(chan struct{})}
}

func (n *narrator) Init(logr.RuntimeInfo) {}

// Enabled leaves out debug messages, such as the clients' requests.
func (n *narrator) Enabled(level int) bool { return level == 0 }

func (n *narrator) WithValues(...any) logr.LogSink { return n }

func (n *narrator) WithName(string) logr.LogSink { return n }

func (n *narrator) Info(_ int, message string, kv ...any) { n.say(line(message, kv)) }

func (n *narrator) Error(err error, message string, kv ...any) {
	n.say(line(message, append(kv, "error", err)))
}

func (n *narrator) say(line string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	fmt.Println("     controller  " + line)
	n.lines[line]++
	close(n.news)
	n.news = make(chan struct{})
}

// expect returns when the line has been logged.
func (n *narrator) expect(ctx context.Context, line string) error {
	for {
		n.mu.Lock()
		said, news := n.lines[line] > 0, n.news
		if said {
			n.lines[line]--
		}
		n.mu.Unlock()
		if said {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return fmt.Errorf("the controller didn't log %q: %w", line, context.Cause(ctx))
		}
	}
}

// unexpected returns the lines that the story didn't wait for.
func (n *narrator) unexpected() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var lines []string
	for line, times := range n.lines {
		for range times {
			lines = append(lines, line)
		}
	}
	return lines
}

// line renders a log entry as a sentence. The value that identifies the object has no key.
func line(message string, kv []any) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-16s", message)
	for i := 0; i+1 < len(kv); i += 2 {
		switch value := kv[i+1].(type) {
		case cache.ObjectName:
			fmt.Fprintf(&b, " %s", value)
		default:
			if kv[i] == "market" {
				fmt.Fprintf(&b, " %v", value)
				continue
			}
			fmt.Fprintf(&b, " %s=%v", kv[i], value)
		}
	}
	return b.String()
}
