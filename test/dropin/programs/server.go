package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

// objects is how many objects of a kind a server has.
const objects = 20_000

// reader is the user that programs are. It may read everything and write nothing, so that each program finds
// the same.
const reader = "reader"

// serve runs a kube-apiserver that has the objects of a recipe, until stop is called. It returns the path of
// the programs' kubeconfig. dir has the program's files.
func (w *workplace) serve(ctx context.Context, r *recipe) (kubeconfig string, stop func() error, err error) {
	module := filepath.Join(w.clone, "test", "e2e")
	command := filepath.Join(w.dir, "kube-up")
	if _, err := w.run(ctx, "server", "go", "-C", module, "build", "-o", command, "./kube-up"); err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(ctx, command)
	cmd.Dir, cmd.Stderr = module, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() error {
		if err := cmd.Cancel(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return err
		}
		return cmd.Wait()
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, stop())
		}
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", nil, err
	}
	_, admin, _ := strings.Cut(strings.TrimSpace(line), "=")
	kubeconfig = filepath.Join(w.dir, "kubeconfig")
	if err := asReader(admin, kubeconfig); err != nil {
		return "", nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", admin)
	if err != nil {
		return "", nil, err
	}
	config.QPS = -1
	config.NegotiatedSerializer = serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion()
	return kubeconfig, stop, w.fill(ctx, config, r)
}

// asReader writes a kubeconfig of the reader.
func asReader(admin, kubeconfig string) error {
	config, err := clientcmd.LoadFromFile(admin)
	if err != nil {
		return err
	}
	for _, user := range config.AuthInfos {
		user.Impersonate = reader
	}
	return clientcmd.WriteToFile(*config, kubeconfig)
}

// rights let the reader read.
var rights = []struct{ path, text string }{
	{"/apis/rbac.authorization.k8s.io/v1/clusterroles", `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules: [{verbs: [get, list, watch], apiGroups: ["*"], resources: ["*"]}]`},
	{"/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: reader}]
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}`},
}

// fill creates the reader's rights, the definitions, and the objects.
func (w *workplace) fill(ctx context.Context, config *rest.Config, r *recipe) error {
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return err
	}
	for _, right := range rights {
		if err := create(ctx, client, right.path, right.text); err != nil {
			return fmt.Errorf("%s: %w", right.path, err)
		}
	}
	for _, name := range r.definitions {
		text, err := os.ReadFile(filepath.Join(w.source, name))
		if err != nil {
			return err
		}
		if err := create(ctx, client, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
			strings.Split(string(text), "\n---")...); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, k := range r.kinds {
		if err := k.create(ctx, client); err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
	}
	return nil
}

// create creates the objects that are in texts of YAML. The server doesn't serve a new definition at once.
func create(ctx context.Context, client rest.Interface, path string, texts ...string) error {
	for _, text := range texts {
		body, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			return err
		}
		if string(body) == "null" {
			continue
		}
		for {
			err := client.Post().AbsPath(path).SetHeader("Content-Type", "application/json").Body(body).
				Do(ctx).Error()
			if err == nil {
				break
			}
			if !apierrors.IsNotFound(err) {
				return err
			}
			select {
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	return nil
}

// create creates the objects of a kind.
func (k kind) create(ctx context.Context, client rest.Interface) error {
	const writers = 16
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for n := range objects {
		group.Go(func() error {
			text := strings.ReplaceAll(k.text, "NUMBER", fmt.Sprintf("%05d", n))
			return create(ctx, client, k.path, text)
		})
	}
	return group.Wait()
}
