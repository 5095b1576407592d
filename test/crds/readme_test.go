package crds

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

	"github.com/kubewright/kubewright/test/e2e/apiserver"
)

// TestReadmeOwnAPI follows README from an empty folder to a controller that runs.
func TestReadmeOwnAPI(t *testing.T) {
	r := newReader(t)
	r.follow("## Your own API")
	for _, want := range []string{"wrote apis/shop/v1/types.go", "ok  \texample.com/shop"} {
		if !strings.Contains(r.output, want) {
			t.Errorf("the commands don't say %q, but:\n%s", want, r.output)
		}
	}
}

// TestReadmeImport follows README from a definition in a cluster to a program that lists its objects. Kubectl
// is a script that prints the manifest.
func TestReadmeImport(t *testing.T) {
	r := newReader(t)
	dir, err := download("github.com/cert-manager/cert-manager@v1.21.2")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "deploy/crds/cert-manager.io_certificates.yaml")
	r.addCommand("kubectl", "[ \"$*\" = 'get crd certificates.cert-manager.io -o yaml' ] && exec cat "+file)

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	server, err := apiserver.Start(ctx, apiserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	manifest, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.CreateCRDs(ctx, withoutRules(t, manifest)); err != nil {
		t.Fatal(err)
	}
	certificates := schema.GroupVersionResource{Group: "cert-manager.io", Version: "v1", Resource: "certificates"}
	certificate := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": map[string]any{"name": "front"},
		"spec": map[string]any{"secretName": "front", "dnsNames": []any{"example.com"},
			"issuerRef": map[string]any{"name": "ours"}},
	}}
	client := dynamic.NewForConfigOrDie(server.Config()).Resource(certificates).Namespace("web")
	if _, err := client.Create(ctx, certificate, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	r.env = append(r.env, "KUBECONFIG="+writeKubeconfig(t, server.Config()))

	r.follow("## Somebody else's API")
	if want := "web front [example.com]\n"; !strings.Contains(r.output, want) {
		t.Errorf("the program doesn't list %q, but:\n%s", want, r.output)
	}
}

// writeKubeconfig returns a file that says how to reach a server.
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

// reader does what README says. It has a clone of kubewright beside its folder.
type reader struct {
	t      *testing.T
	readme string
	// dir is where the shell is, bin a folder of its PATH, env what is added to its environment.
	dir, bin string
	env      []string
	// commands counts what the reader typed, output is what the commands wrote.
	commands int
	output   string
}

func newReader(t *testing.T) *reader {
	if testing.Short() {
		t.Skip("compiles programs in new modules")
	}
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	clone, err := filepath.Abs("../..")
	r := &reader{t: t, readme: string(text), dir: t.TempDir(), bin: t.TempDir()}
	if err := errors.Join(err, os.Symlink(clone, filepath.Join(r.dir, "kubewright"))); err != nil {
		t.Fatal(err)
	}
	r.env = []string{"PATH=" + r.bin + string(filepath.ListSeparator) + os.Getenv("PATH"), "GOWORK=off",
		"GOPROXY=" + proxy(t)}
	return r
}

// proxy returns a module proxy that doesn't know kubewright, so that all of it comes from the clone. For other
// modules it refers to the usual proxy.
func proxy(t *testing.T) string {
	usual, err := exec.Command("go", "env", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(string(usual)), "|", ","), ",")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/github.com/kubewright/") || !strings.HasPrefix(first, "http") {
			http.NotFound(w, r)
			return
		}
		http.Redirect(w, r, first+r.URL.EscapedPath(), http.StatusFound)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// addCommand adds a command to the PATH.
func (r *reader) addCommand(name, script string) {
	if err := os.WriteFile(filepath.Join(r.bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		r.t.Fatal(err)
	}
}

// fileName finds the Go file that a line names.
var fileName = regexp.MustCompile("`([\\w/]+\\.go)`")

// cloneLine begins the block that those run who have a clone.
const cloneLine = "go mod edit -replace "

// follow runs the commands of a section and writes its files, in order. A new module gets the clone.
func (r *reader) follow(heading string) {
	r.t.Helper()
	clone := ""
	for _, b := range blocks(r.readme) {
		if strings.HasPrefix(b.text, cloneLine) {
			clone = b.text
			break
		}
	}
	_, section, ok := strings.Cut(r.readme, heading+"\n")
	if !ok || clone == "" {
		r.t.Fatalf("README has no section %q, or nothing for those with a clone", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	for _, b := range blocks(section) {
		switch {
		case b.file != "":
			r.write(b.file, b.text)
		case !strings.HasPrefix(b.text, cloneLine):
			r.run(b.text)
			r.commands += len(regexp.MustCompile(`(?m)&&|$`).FindAllString(strings.TrimSpace(b.text), -1))
			if strings.Contains(b.text, "go mod init") {
				r.run(clone)
			}
		}
	}
	r.t.Logf("%d commands", r.commands)
	if r.commands < 3 || r.commands >= 10 {
		r.t.Errorf("README takes %d commands, want fewer than 10", r.commands)
	}
}

// block is a block of code in README: commands, or a file.
type block struct{ file, text string }

// blocks returns the blocks of a text. What is in a fence is the last file that a line before it names.
func blocks(text string) []block {
	var all []block
	file, commands := "", false
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		switch line := lines[i]; {
		case strings.HasPrefix(line, "```"):
			b := block{file: file}
			for i++; i < len(lines) && lines[i] != "```"; i++ {
				b.text += lines[i] + "\n"
			}
			all = append(all, b)
		case strings.HasPrefix(line, "    "):
			if !commands {
				all = append(all, block{})
			}
			all[len(all)-1].text += strings.TrimSpace(line) + "\n"
			commands = true
			continue
		default:
			if m := fileName.FindAllStringSubmatch(line, -1); m != nil {
				file = m[len(m)-1][1]
			}
		}
		commands = false
	}
	return all
}

// run runs commands in a shell, and stays where they end.
func (r *reader) run(commands string) {
	r.t.Helper()
	pwd := filepath.Join(r.bin, "pwd.txt")
	cmd := exec.Command("sh", "-e", "-c", commands+"pwd > "+pwd)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), r.env...)
	out, err := cmd.CombinedOutput()
	r.output += string(out)
	if err != nil {
		r.t.Fatalf("%s: %v\n%s", commands, err, out)
	}
	dir, err := os.ReadFile(pwd)
	if err != nil {
		r.t.Fatal(err)
	}
	r.dir = strings.TrimSpace(string(dir))
}

// typeDecl matches a struct with its comment.
var typeDecl = regexp.MustCompile(`(?m)(?:^//.*\n)*^type (\w+) struct ?\{(?:\}|\n(?:.*\n)*?\})\n`)

// write writes a file. In one that exists it replaces the structs that the text declares.
func (r *reader) write(name, text string) {
	r.t.Helper()
	file := filepath.Join(r.dir, name)
	old, err := os.ReadFile(file)
	if err == nil {
		declared := typeDecl.FindAllStringSubmatch(text, -1)
		text, err = typeDecl.ReplaceAllStringFunc(string(old), func(decl string) string {
			for _, d := range declared {
				if d[1] == typeDecl.FindStringSubmatch(decl)[1] {
					return d[0]
				}
			}
			return decl
		}), nil
		if len(declared) == 0 || text == string(old) {
			err = fmt.Errorf("%s exists, and README changes no struct of it", name)
		}
	} else if os.IsNotExist(err) {
		err = nil
	}
	if err := errors.Join(err, os.WriteFile(file, []byte(text), 0o644)); err != nil {
		r.t.Fatal(err)
	}
}
