package load

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// server is what runs in a process of its own.
type server interface {
	store
	address() address
	stop() error
}

// servers are those that there are.
var servers = map[string]func(context.Context) (server, error){
	inMemory: startMemory, isEmbedded: startEmbedded,
}

const (
	inMemory   = "in memory"
	isEmbedded = "embedded"
)

// address is how to reach a server. Token, CA, in PEM, and Name are for TLS.
type address struct {
	Host, Token, Name string
	CA                []byte
}

func (a address) config() *rest.Config {
	return &rest.Config{Host: a.Host, BearerToken: a.Token, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{ServerName: a.Name, CAData: a.CA}}
}

// job is what a server's process does, passed in its environment.
type job struct {
	Server           string
	Objects, Writers int
	// Rate is the number of changes a second, 0 for as many as it can.
	Rate int
}

const variable = "LAB_LOAD_JOB"

// summary is what it tells in the end.
type summary struct {
	Changes int
	Took    time.Duration
}

func TestMain(m *testing.M) {
	if text := os.Getenv(variable); text != "" {
		if err := play(text); err != nil {
			fmt.Fprintln(os.Stderr, "the server:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// play runs a server. It tells its address once all objects are there, waits for a line before it changes
// them, for another before it stops that, and for the end of its input before it ends.
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
type process struct {
	address
	in  io.WriteCloser
	out *json.Decoder
}

// start starts a server, which ends with the test.
func (j job) start(t *testing.T) *process {
	t.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), variable+"="+string(text))
	cmd.Stderr = os.Stderr
	p := &process{}
	if p.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = json.NewDecoder(out)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server's process: %v", err)
		}
	})
	if err := p.out.Decode(&p.address); err != nil {
		t.Fatal(err)
	}
	return p
}

// load makes the server change objects.
func (p *process) load(t *testing.T) { p.say(t) }

// rest makes it stop that, and returns what it did.
func (p *process) rest(t *testing.T) (s summary) {
	t.Helper()
	p.say(t)
	if err := p.out.Decode(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

func (p *process) say(t *testing.T) {
	t.Helper()
	if _, err := fmt.Fprintln(p.in); err != nil {
		t.Fatal(err)
	}
}
