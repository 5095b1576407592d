package crds

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubewright/kubewright/envtest/apiserver"
	"github.com/kubewright/kubewright/internal/pages"
	"github.com/kubewright/kubewright/internal/scratch"
)

// walk is a section of a page that TestWalks follows, from an empty folder, or from what prepare has made
// there.
type walk struct {
	page, section string
	prepare       func(*visitor)
	// check checks the result.
	check func(*visitor)
}

// firstAPI is the page that begins modules.
const firstAPI = "docs/first-api.md"

var walks = []walk{
	{page: firstAPI, section: "Your own API", prepare: folder("shop"), check: func(v *visitor) {
		v.printed("wrote apis/shop/v1/types.go", "ok  \texample.com/shop")
		v.short()
	}},
	{page: firstAPI, section: "Somebody else's API", prepare: certificates, check: func(v *visitor) {
		v.printed("web front [example.com]\n")
		v.short()
	}},
	{page: "docs/migration.md", section: "From kube_codegen.sh", prepare: func(v *visitor) {
		v.module("migrated")
		v.do("go tool kubewright init --apis-dir pkg/apis")
		v.write("hack/boilerplate.go.txt", "// A licence.\n")
	}, check: func(v *visitor) { v.has("pkg/generated/applyconfiguration") }},
	{page: firstAPI, section: "All of Kubernetes", prepare: folder("kubernetes"),
		check: func(v *visitor) { v.has("pkg/client/clientset/versioned/typed/core/v1/pod.go") }},
	{page: "docs/import.md", section: "Types of somebody else's CustomResourceDefinition", prepare: definitions,
		check: func(v *visitor) { v.has("apis/certmanager/v1/certificate_types.go", "pkg/client/clientset") }},
	{page: "docs/migration.md", section: "In a fresh repository", prepare: func(v *visitor) { v.module("shop") },
		check: func(v *visitor) { v.has("apis/shop/v1/types.go", "pkg/client/shopv1/clientset") }},
	{page: "docs/migration.md", section: "As scripts", prepare: repository,
		check: func(v *visitor) { v.has("pkg/client/clientset", "hack/verify-codegen.sh") }},
	{page: "docs/migration.md", section: "From an earlier kubewright", prepare: repository,
		check: func(v *visitor) { v.has("pkg/client/clientset") }},
	{page: "docs/testing.md", section: "Requiring it", prepare: importing("envtest/apiserver"),
		check: func(v *visitor) { v.do("go list -mod=readonly -deps .") }},
	{page: "docs/controller-runtime.md", section: "controller-runtime on this runtime",
		prepare: importing("contrib/controller-runtime"),
		check:   func(v *visitor) { v.do("go list -mod=readonly -deps .") }},
}

// TestWalks runs the commands of pages, and writes their files. All walks begin in the same folder, which has
// the clone of kubewright.
func TestWalks(t *testing.T) {
	shared, goproxy := scratch.FixedForTest(t), proxy(t)
	for i, w := range walks {
		t.Run(w.page+"/"+w.section, func(t *testing.T) {
			v := newVisitor(t, filepath.Join(shared, string(rune('a'+i))), w.page, goproxy)
			if w.prepare != nil {
				w.prepare(v)
			}
			v.Reader.Commands, v.Reader.Output = 0, ""
			v.follow(w.page, w.section)
			w.check(v)
		})
	}
}

// proxy returns a module proxy that refuses requests for kubewright, like a proxy with a list of allowed
// modules, so that all of it must come from the clone. For other modules it refers to the usual proxy.
func proxy(t *testing.T) string {
	usual, err := exec.Command("go", "env", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(string(usual)), "|", ","), ",")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/github.com/kubewright") || !strings.HasPrefix(first, "http") {
			http.Error(w, "not on the list", http.StatusForbidden)
			return
		}
		http.Redirect(w, r, first+r.URL.EscapedPath(), http.StatusFound)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// visitor is a reader with a clone of kubewright beside his folder.
type visitor struct {
	pages.Reader
	t *testing.T
	// bin is a folder in the PATH.
	bin string
}

// newVisitor returns a visitor of a page. It creates the folder dir, with the clone in it.
func newVisitor(t *testing.T, dir, page, goproxy string) *visitor {
	t.Helper()
	clone, err := filepath.Abs("../..")
	if err := errors.Join(err, os.Mkdir(dir, 0o755),
		os.Symlink(clone, filepath.Join(dir, "kubewright"))); err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	// In folders with the same path in each run, go test would return earlier results.
	return &visitor{t: t, bin: bin, Reader: pages.Reader{Dir: dir, Log: t.Output(), Skip: isElsewhere(page),
		Env: []string{"PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH"), "GOWORK=off",
			"GOFLAGS=-count=1", "GOPROXY=" + goproxy, "GOBIN=" + bin}}}
}

// follow follows the section of a page. A new module gets the clone, unless the section sets that up.
func (v *visitor) follow(page, section string) {
	v.t.Helper()
	blocks := sectionOf(v.t, page, section)
	for _, b := range blocks {
		if line, generates := strings.CutPrefix(b.Text, "//go:generate "); generates { // in the package below
			v.do("cd apis/shop/v1 && " + strings.TrimSpace(line) + " && cd ../../..")
			continue
		}
		if err := v.Follow(v.t.Context(), []pages.Block{b}); err != nil {
			v.t.Fatalf("%s: %v", page, err)
		}
		if strings.Contains(b.Text, "go mod init") && !slices.ContainsFunc(blocks, isCloneBlock) {
			v.useClone()
		}
	}
}

// sectionOf returns the blocks of a section.
func sectionOf(t *testing.T, page, section string) []pages.Block {
	t.Helper()
	blocks, err := pages.Section("../..", page, section)
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}

// isCloneBlock reports whether a block is for readers with a clone.
func isCloneBlock(b pages.Block) bool { return strings.HasPrefix(b.Text, "go mod edit -replace ") }

// useClone runs the block for readers with a clone, which makes kubewright a tool.
func (v *visitor) useClone() {
	v.t.Helper()
	for _, b := range sectionOf(v.t, firstAPI, "Your own API") {
		if isCloneBlock(b) {
			v.do(b.Commands()...)
			return
		}
	}
	v.t.Fatalf("%s has no block for readers with a clone", firstAPI)
}

// module starts a module that has kubewright as a tool.
func (v *visitor) module(name string) {
	v.t.Helper()
	folder(name)(v)
	v.do("go mod init example.com/" + name)
	v.useClone()
}

// folder creates an empty folder and goes there.
func folder(name string) func(*visitor) {
	return func(v *visitor) { v.do("mkdir " + name + " && cd " + name) }
}

// do runs commands that aren't on a page.
func (v *visitor) do(commands ...string) {
	v.t.Helper()
	if err := v.Type(v.t.Context(), commands...); err != nil {
		v.t.Fatal(err)
	}
}

func (v *visitor) write(name, text string) {
	v.t.Helper()
	if err := v.Write(name, text); err != nil {
		v.t.Fatal(err)
	}
}

// copy copies a file to others.
func (v *visitor) copy(from string, to ...string) {
	v.t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		v.t.Fatal(err)
	}
	for _, name := range to {
		v.write(name, string(text))
	}
}

// addCommand adds a command to the PATH.
func (v *visitor) addCommand(name, script string) {
	if err := os.WriteFile(filepath.Join(v.bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		v.t.Fatal(err)
	}
}

// printed checks that the commands printed these texts.
func (v *visitor) printed(texts ...string) {
	for _, want := range texts {
		if !strings.Contains(v.Output, want) {
			v.t.Errorf("the commands don't print %q", want)
		}
	}
}

// has checks that files or folders exist.
func (v *visitor) has(names ...string) {
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(v.Dir, name)); err != nil {
			v.t.Error(err)
		}
	}
}

// short checks the number of commands.
func (v *visitor) short() {
	if v.Commands < 3 || v.Commands >= 10 {
		v.t.Errorf("it takes %d commands, want fewer than 10", v.Commands)
	}
}

// importing starts a module with a package that imports one of ours.
func importing(of string) func(*visitor) {
	return func(v *visitor) {
		folder("program")(v)
		v.do("go mod init example.com/program")
		v.write("x.go", "package x\n\nimport _ \"github.com/kubewright/kubewright/"+of+"\"\n")
	}
}

// definitions starts a module with manifests.
func definitions(v *visitor) {
	v.module("imported")
	v.addCommand("kubewright", `exec go tool kubewright "$@"`)
	v.copy(v.kubectl(), "cert-manager.crds.yaml", "crds/certificates.yaml")
}

// repository starts a module with an API.
func repository(v *visitor) {
	v.module("shop")
	v.do("go tool kubewright init")
	v.write("hack/boilerplate.go.txt", "// A licence.\n")
}

// kubectl installs a kubectl that prints cert-manager's definition of certificates, and returns the file.
func (v *visitor) kubectl() string {
	dir, err := download("github.com/cert-manager/cert-manager@v1.21.2")
	if err != nil {
		v.t.Fatal(err)
	}
	file := filepath.Join(dir, "deploy/crds/cert-manager.io_certificates.yaml")
	v.addCommand("kubectl", "[ \"$*\" = 'get crd certificates.cert-manager.io -o yaml' ] && exec cat "+file)
	return file
}

// certificates starts a server with a certificate, and sets KUBECONFIG for it.
func certificates(v *visitor) {
	folder("certificates")(v)
	t := v.t
	file := v.kubectl()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	server, err := apiserver.Start(ctx, apiserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	manifest, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.CreateCRDs(ctx, withoutRules(t, manifest)); err != nil {
		t.Fatal(err)
	}
	resource := schema.GroupVersionResource{Group: "cert-manager.io", Version: "v1", Resource: "certificates"}
	certificate := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": map[string]any{"name": "front"},
		"spec": map[string]any{"secretName": "front", "dnsNames": []any{"example.com"},
			"issuerRef": map[string]any{"name": "ours"}},
	}}
	client := dynamic.NewForConfigOrDie(server.Config()).Resource(resource).Namespace("web")
	if _, err := client.Create(ctx, certificate, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	v.Env = append(v.Env, "KUBECONFIG="+writeKubeconfig(t, server.Config()))
}

// writeKubeconfig writes a kubeconfig for a server, and returns its path.
func writeKubeconfig(t *testing.T, config *rest.Config) string {
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.Clusters["x"] = &clientcmdapi.Cluster{Server: config.Host, TLSServerName: config.ServerName,
		CertificateAuthorityData: config.CAData}
	kubeconfig.AuthInfos["x"] = &clientcmdapi.AuthInfo{Token: config.BearerToken}
	kubeconfig.Contexts["x"] = &clientcmdapi.Context{Cluster: "x", AuthInfo: "x"}
	kubeconfig.CurrentContext = "x"
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*kubeconfig, file); err != nil {
		t.Fatal(err)
	}
	return file
}
