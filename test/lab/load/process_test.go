package load

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/kubewright/kubewright/internal/child"
)

// server runs in a process of its own.
type server interface {
	store
	address() child.Address
	stop() error
}

// servers are the servers by name.
var servers = map[string]func(context.Context) (server, error){
	inMemory: startMemory, isEmbedded: startEmbedded,
}

const (
	inMemory   = "in memory"
	isEmbedded = "embedded"
)

// job is what a server's process does, passed in its environment.
type job struct {
	Server           string
	Objects, Writers int
	// Rate is the number of changes a second, 0 for as many as it can.
	Rate int
}

const variable = "LAB_LOAD_JOB"

// summary is what the process reports at its end.
type summary struct {
	Changes int
	Took    time.Duration
}

func TestMain(m *testing.M) {
	child.Main(variable, play)
	os.Exit(m.Run())
}

// play runs a server. It prints its address once all objects exist. It waits for a line before it changes
// objects, for another before it stops changing them, and for the end of its input before it ends.
func play(text string) (err error) {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return err
	}
	ctx := context.Background()
	s, err := servers[j.Server](ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	w := newWriters(s, j.Objects, j.Writers)
	if err := w.fill(ctx); err != nil {
		return err
	}
	out, in := json.NewEncoder(os.Stdout), bufio.NewScanner(os.Stdin)
	if err := out.Encode(s.address()); err != nil || !in.Scan() {
		return err
	}
	stop, begun := make(chan struct{}), time.Now()
	over := make(chan error, 1)
	var sum summary
	go func() {
		sum.Changes, err = w.change(ctx, j.Rate, stop)
		over <- err
	}()
	in.Scan()
	close(stop)
	if err := <-over; err != nil {
		return err
	}
	sum.Took = time.Since(begun)
	if err := s.create(ctx, bakery(marker)); err != nil {
		return err
	}
	if err := out.Encode(sum); err != nil {
		return err
	}
	in.Scan()
	return nil
}

// process is a server's process.
type process struct{ *child.Process }

// start starts a server, which ends with the test.
func (j job) start(t *testing.T) process {
	t.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	return process{child.Start(t, variable, string(text))}
}

// load makes the server change objects.
func (p process) load(t *testing.T) { p.say(t) }

// rest makes the server stop changing objects, and returns its summary.
func (p process) rest(t *testing.T) (s summary) {
	t.Helper()
	p.say(t)
	if err := p.Hear(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

func (p process) say(t *testing.T) {
	t.Helper()
	if err := p.Say(""); err != nil {
		t.Fatal(err)
	}
}
