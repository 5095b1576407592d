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

// A rest.Config says how to reach a server (host, certificate authority) and who one is: by a token, by a
// client certificate, or by a program that prints either (an exec plugin, as clouds have them). Every
// client made from it uses that. Wrap adds a transport of one's own around all requests.
func TestTransport(t *testing.T) {
	binaries, err := kubeserver.Build(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	server, err := kubeserver.Start(t.Context(), binaries, kubeserver.Options{}) // a whole kube-apiserver
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	admin := server.Config()
	anonymous := rest.AnonymousClientConfig(admin) // the server's address and authority, and nobody's name

	certificate := rest.CopyConfig(anonymous)
	certificate.CertData, certificate.KeyData, err = server.ClientCertificate("ann", "bakers")
	if err != nil {
		t.Fatal(err)
	}
	plugin := rest.CopyConfig(anonymous)
	plugin.ExecProvider = &api.ExecConfig{
		APIVersion:      "client.authentication.k8s.io/v1",
		Command:         os.Args[0], // this test prints a credential if it finds the variable, see TestMain
		Env:             []api.ExecEnvVar{{Name: pluginToken, Value: admin.BearerToken}},
		InteractiveMode: api.NeverExecInteractiveMode,
	}
	for who, config := range map[string]*rest.Config{"admin": admin, "ann": certificate} {
		if got := whoAmI(t, config); got != who {
			t.Errorf("the server takes me for %q, I am %q", got, who)
		}
	}
	if got := whoAmI(t, plugin); got != "admin" {
		t.Errorf("by a plugin, the server takes me for %q", got)
	}

	var requests atomic.Int32
	counted := rest.CopyConfig(admin)
	counted.Wrap(func(next http.RoundTripper) http.RoundTripper { return counter{next, &requests} })
	whoAmI(t, counted)
	if got := requests.Load(); got != 1 {
		t.Errorf("%d requests were counted, want 1", got)
	}
}

// whoAmI asks the server for the name of the user who asks.
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

// pluginToken is the variable by which this test finds that it is started as an exec plugin.
const pluginToken = "TOUR_PLUGIN_TOKEN"

// printCredential is what an exec plugin does: it prints who the user is.
func printCredential(out io.Writer, token string) {
	fmt.Fprintf(out, `{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": %q}}`, token)
}
