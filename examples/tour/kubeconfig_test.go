package tour

import (
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// A kubeconfig has clusters (where), users (who) and contexts (pairs of the two). Several files are merged:
// KUBECONFIG lists them like PATH, and for each entry the first file that has it wins. An entry is always
// taken whole from one file.
//
// Explicit settings take precedence: a file given by --kubeconfig replaces all others, and flags for single
// values override it.
func Example_kubeconfig() {
	dir, err := os.MkdirTemp("", "tour")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	write := func(name, server, user, current string) string {
		config := api.NewConfig()
		config.Clusters["town"] = &api.Cluster{Server: server}
		config.AuthInfos[user] = &api.AuthInfo{Token: "token-of-" + user}
		config.Contexts[user+"@town"] = &api.Context{Cluster: "town", AuthInfo: user, Namespace: user}
		config.CurrentContext = current
		file := filepath.Join(dir, name)
		if err := clientcmd.WriteToFile(*config, file); err != nil {
			panic(err)
		}
		return file
	}
	first := write("first", "https://first.example.com", "baker", "")
	second := write("second", "https://second.example.com", "miller", "miller@town")

	// clientcmd.NewDefaultClientConfigLoadingRules reads the list from KUBECONFIG.
	files := &clientcmd.ClientConfigLoadingRules{Precedence: []string{first, second}}
	show := func(overrides *clientcmd.ConfigOverrides) {
		loaded := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(files, overrides)
		config, err := loaded.ClientConfig() // a *rest.Config, which all clients are made from
		if err != nil {
			panic(err)
		}
		namespace, _, err := loaded.Namespace()
		if err != nil {
			panic(err)
		}
		fmt.Println(config.Host, config.BearerToken, "namespace", namespace)
	}
	// Both files have the cluster town: the first one wins. Only the second has a current context.
	show(&clientcmd.ConfigOverrides{})
	show(&clientcmd.ConfigOverrides{CurrentContext: "baker@town"})
	show(&clientcmd.ConfigOverrides{ClusterInfo: api.Cluster{Server: "https://127.0.0.1:6443"}})
	files.ExplicitPath = second
	show(&clientcmd.ConfigOverrides{})
	// Output:
	// https://first.example.com token-of-miller namespace miller
	// https://first.example.com token-of-baker namespace baker
	// https://127.0.0.1:6443 token-of-miller namespace miller
	// https://second.example.com token-of-miller namespace miller
}
