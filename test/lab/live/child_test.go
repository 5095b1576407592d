package live

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/envtest/apiserver"
	"github.com/kubewright/kubewright/examples/crds"
	"github.com/kubewright/kubewright/internal/child"
	"github.com/kubewright/kubewright/test/lab/results"
)

// job is what the test's program does as a process of its own, passed in the environment: it is an embedded
// API server, or runs informers.
type job struct {
	// Informers is nil if the process is a server.
	Informers *informers
}

// informers are those of each implementation, with and without streamed lists, of a resource.
type informers struct {
	Server              child.Address
	Resource, Namespace string
}

const variable = "LAB_LIVE_JOB"

// resources are the resources by name.
var resources = map[string]resource{bakeries.String(): bakeries, configMaps.String(): configMaps}

func play(text string) error {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return err
	}
	if j.Informers != nil {
		return j.Informers.run(context.Background())
	}
	return serve(context.Background())
}

// serve runs an embedded server until the input ends.
func serve(ctx context.Context) (err error) {
	s, err := apiserver.Start(ctx, apiserver.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	if err := s.InstallCRDs(ctx, crds.Files); err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(child.AddressOf(s.Config())); err != nil {
		return err
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
	}
	return nil
}

// answer is how an informer fares.
type answer struct {
	Who     implementation
	Verdict results.Verdict
	What    string
}

// run runs the informers until the input ends. An empty line of input is answered when each has received some
// changes more. Any other line has the objects of the server with their versions; the answer comes when each
// informer has them or is late.
func (i informers) run(ctx context.Context) error {
	var subjects []*subject
	for _, who := range implementations {
		for _, streams := range []bool{true, false} {
			o := options{namespace: i.Namespace, watchList: streams}
			s, err := newSubject(ctx, resources[i.Resource], who, i.Server.Config(), o)
			if err != nil {
				return err
			}
			defer s.end()
			subjects = append(subjects, s)
		}
	}
	out := json.NewEncoder(os.Stdout)
	err := out.Encode(child.Address{})
	for in := bufio.NewScanner(os.Stdin); err == nil && in.Scan(); {
		answers := []answer{}
		if in.Text() == "" {
			err = hear(ctx, subjects)
		} else {
			answers, err = i.judge(ctx, subjects, in.Bytes())
		}
		if err == nil {
			err = out.Encode(answers)
		}
	}
	return err
}

func (i informers) judge(ctx context.Context, subjects []*subject, text []byte) (all []answer, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, converged, fmt.Errorf("not within %v", converged))
	defer cancel()
	var versions map[string]string
	if err := json.Unmarshal(text, &versions); err != nil {
		return nil, err
	}
	want := map[cache.ObjectName]string{}
	for name, version := range versions {
		want[cache.ObjectName{Namespace: i.Namespace, Name: name}] = version
	}
	for _, s := range subjects {
		verdict, what := s.judge(ctx, want, false)
		all = append(all, answer{s.who, verdict, what})
	}
	return all, nil
}

// ask makes the informers of a child answer, once they have what the server has.
func ask(ctx context.Context, p *child.Process, c cluster, namespace string) (answers []answer, err error) {
	found, err := c.resource.versions(ctx, c.config, options{namespace: namespace}, "")
	if err != nil {
		return nil, err
	}
	want := map[string]string{}
	for name, version := range found {
		want[name.Name] = version
	}
	text, err := json.Marshal(want)
	if err != nil {
		return nil, err
	}
	if err := p.Say(string(text)); err != nil {
		return nil, err
	}
	return answers, p.Hear(&answers)
}

// addressOf returns the address of a server, with its CA even if that is in a file.
func addressOf(config *rest.Config) (child.Address, error) {
	config = rest.CopyConfig(config)
	err := rest.LoadTLSFiles(config)
	return child.AddressOf(config), err
}

// frozen is for how long a process is frozen.
func frozen() time.Duration {
	if long() {
		return 2 * time.Minute
	}
	return 3 * time.Second
}
