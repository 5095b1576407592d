package main

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// memory is a lock in the process's memory.
type memory struct {
	mu     sync.Mutex
	record *resourcelock.LeaderElectionRecord
	broken bool
}

var errBroken = errors.New("broken")

func (m *memory) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken {
		return nil, nil, errBroken
	}
	if m.record == nil {
		return nil, nil, apierrors.NewNotFound(schema.GroupResource{Resource: "leases"}, "memory")
	}
	record := *m.record
	return &record, []byte(record.HolderIdentity + record.RenewTime.String()), nil
}

func (m *memory) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return m.Update(ctx, record)
}

func (m *memory) Update(_ context.Context, record resourcelock.LeaderElectionRecord) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken {
		return errBroken
	}
	m.record = &record
	return nil
}

// holder returns the identity of the lock's holder, or "" if it was released.
func (m *memory) holder() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.record.HolderIdentity
}

// fail makes every later call fail.
func (m *memory) fail() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.broken = true
}

func (m *memory) RecordEvent(string) {}
func (m *memory) Identity() string   { return "me" }
func (m *memory) Describe() string   { return "memory" }

// TestReleasedLast checks that the lock is released after run has returned, not before.
func TestReleasedLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		lock := &memory{}
		err := whileLeading(ctx, lock, func(ctx context.Context) error {
			time.AfterFunc(time.Minute, cancel)
			<-ctx.Done()
			<-time.After(time.Minute)
			if lock.holder() != "me" {
				t.Error("given back while running")
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if holder := lock.holder(); holder != "" {
			t.Errorf("still held by %s", holder)
		}
	})
}

// TestLost checks that a run ends with an error if the lock can't be renewed.
func TestLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lock := &memory{}
		err := whileLeading(t.Context(), lock, func(ctx context.Context) error {
			lock.fail()
			<-ctx.Done()
			return nil
		})
		if err != errLeaseLost {
			t.Errorf("error %v, want %v", err, errLeaseLost)
		}
	})
}

// TestRunFails checks that an error of run releases the lock and is returned.
func TestRunFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lock, failed := &memory{}, errors.New("failed")
		if err := whileLeading(
			t.Context(), lock, func(context.Context) error { return failed },
		); err != failed {
			t.Errorf("error %v, want %v", err, failed)
		}
		if holder := lock.holder(); holder != "" {
			t.Errorf("still held by %s", holder)
		}
	})
}

// TestNeverLeads checks that a process which never gets the lock never calls run, and ends with its context.
func TestNeverLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := whileLeading(ctx, &memory{broken: true}, func(context.Context) error {
			t.Error("ran without the lock")
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
