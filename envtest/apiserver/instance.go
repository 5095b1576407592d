package apiserver

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// instance is one run of the API server, from a start to the next stop.
type instance struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when the run has ended
	err    error         // valid once done is closed
}

// run runs the API server until it is stopped, and returns when it is ready.
func run(
	ctx context.Context, api *genericapiserver.GenericAPIServer, client *rest.Config,
) (*instance, error) {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	i := &instance{cancel: cancel, done: make(chan struct{})}
	starting, end := context.WithCancelCause(ctx)
	go func() {
		defer close(i.done)
		i.err = api.PrepareRun().RunWithContext(running)
		end(errors.New("it ended while starting"))
	}()
	if err := waitReady(starting, client); err != nil {
		return nil, errors.Join(err, i.stop())
	}
	return i, nil
}

// stop ends the run. A second call returns the same error.
func (i *instance) stop() error {
	i.cancel()
	<-i.done
	return i.err
}

func waitReady(ctx context.Context, config *rest.Config) error {
	client, err := rest.UnversionedRESTClientFor(unversioned(rest.CopyConfig(config)))
	if err != nil {
		return err
	}
	return poll(ctx, "the API server isn't ready", func() error {
		_, err := client.Get().AbsPath("/readyz").DoRaw(ctx)
		return err
	})
}

// createNamespaces creates the namespaces that every cluster has.
func createNamespaces(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	for _, name := range []string{
		metav1.NamespaceDefault, corev1.NamespaceNodeLease, metav1.NamespacePublic, metav1.NamespaceSystem,
	} {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		_, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}
