package tour

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubewright/kubewright/test/e2e/kubeserver"
)

// A rest.Config has the address of a server (host, certificate authority) and the identity of the client: a
// token, a client certificate, or a program that prints one of the two (an exec plugin; cloud providers have
// one). Every client made from it uses both. Wrap puts a transport of your own around all requests.
//
// Users need a whole kube-apiserver, so this is not the server of server_test.go. The first time, Build
// compiles it, which takes minutes.
func TestTransport(t *testing.T) {
	binaries, err := kubeserver.Build(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	server, err := kubeserver.Start(t.Context(), binaries, kubeserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	admin := server.Config()
	anonymous := rest.AnonymousClientConfig(admin) // without credentials

	certificate := rest.CopyConfig(anonymous)
	certificate.CertData, certificate.KeyData, err = server.ClientCertificate("ann", "bakers")
	if err != nil {
		t.Fatal(err)
	}
	plugin := rest.CopyConfig(anonymous)
	plugin.ExecProvider = &api.ExecConfig{
		APIVersion:      pluginVersion,
		Command:         os.Args[0], // this test: TestMain, in server_test.go, calls printCredential
		Env:             []api.ExecEnvVar{{Name: pluginToken, Value: admin.BearerToken}},
		InteractiveMode: api.NeverExecInteractiveMode,
	}
	got := whoAmI(t, admin) + ", " + whoAmI(t, certificate) + ", " + whoAmI(t, plugin)
	if got != "admin, ann, admin" {
		t.Errorf("by token, certificate and plugin the user is %s", got)
	}
	var requests atomic.Int32
	counted := rest.CopyConfig(admin)
	counted.Wrap(func(next http.RoundTripper) http.RoundTripper { return counter{next, &requests} })
	whoAmI(t, counted)
	if got := requests.Load(); got != 1 {
		t.Errorf("%d requests were counted, want 1", got)
	}
}

// whoAmI returns the name of the user of config, as the server sees it.
func whoAmI(t *testing.T, config *rest.Config) string {
	t.Helper()
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	review, err := clients.AuthenticationV1().SelfSubjectReviews().Create(t.Context(),
		&authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return review.Status.UserInfo.Username
}

// counter counts requests.
type counter struct {
	next     http.RoundTripper
	requests *atomic.Int32
}

func (c counter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.requests.Add(1)
	return c.next.RoundTrip(r)
}

const (
	// pluginToken is the environment variable that makes TestMain act as an exec plugin.
	pluginToken   = "TOUR_PLUGIN_TOKEN"
	pluginVersion = "client.authentication.k8s.io/v1"
)

// printCredential does what an exec plugin does: it prints the user's credential.
func printCredential(out io.Writer, token string) {
	fmt.Fprintf(out, `{"apiVersion": %q, "kind": "ExecCredential", "status": {"token": %q}}`,
		pluginVersion, token)
}
