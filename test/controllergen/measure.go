package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// cost is what a process took.
type cost struct {
	wall   time.Duration
	memory int64 // kilobytes
}

// measure runs both tools in turn, and returns a line with the medians.
func (r row) measure(ctx context.Context, cache, tool string, times int) (string, error) {
	dir, out := filepath.Join(cache, r.name, "module"), filepath.Join(cache, r.name, "measured")
	if err := os.MkdirAll(out, 0o755); err != nil {
		return "", err
	}
	defer os.RemoveAll(out)
	var theirs, ours []cost
	for range times {
		own, err := r.ownCommand(ctx, dir, out)
		if err != nil {
			return "", err
		}
		other := exec.CommandContext(ctx, tool, r.arguments(out)...)
		other.Dir, other.Env = dir, own.Env
		for cmd, costs := range map[*exec.Cmd]*[]cost{other: &theirs, own: &ours} {
			begin := time.Now()
			if text, err := cmd.CombinedOutput(); err != nil {
				return "", fmt.Errorf("%s: %w\n%s", cmd.Path, err, text)
			}
			usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
			*costs = append(*costs, cost{time.Since(begin), usage.Maxrss})
		}
	}
	a, b := median(theirs), median(ours)
	return fmt.Sprintf("  seconds %.2f and %.2f (%.2f), megabytes %d and %d (%.2f)", a.wall.Seconds(),
		b.wall.Seconds(), b.wall.Seconds()/a.wall.Seconds(), a.memory/1024, b.memory/1024,
		float64(b.memory)/float64(a.memory)), nil
}

// median returns the medians of both.
func median(costs []cost) cost {
	var walls []time.Duration
	var memory []int64
	for _, c := range costs {
		walls, memory = append(walls, c.wall), append(memory, c.memory)
	}
	slices.Sort(walls)
	slices.Sort(memory)
	return cost{walls[len(walls)/2], memory[len(memory)/2]}
}
