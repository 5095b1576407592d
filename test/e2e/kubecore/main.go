// Command kubecore generates clientset, listers and informers from all of
// k8s.io/api, compiles and vets them, and runs a program that uses them for
// Pods and ConfigMaps against a real kube-apiserver, which it lets fail:
// connections are cut, nobody gets through, the server restarts. The program
// (testdata/program.go) compares what its informers hold, and what its
// handlers were told, with fresh lists.
//
//	kubecore [-only-compile]
//
// Everything is on 127.0.0.1 and in a temporary folder, except the server's
// programs, which stay in the user's cache folder once they are built.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubewright/kubewright/test/e2e/kubeserver"
	"github.com/kubewright/kubewright/test/e2e/tcpproxy"
)

func main() {
	onlyCompile := flag.Bool("only-compile", false, "generate, compile and vet; start nothing")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := run(ctx, *onlyCompile); err != nil {
		fmt.Fprintln(os.Stderr, "kubecore:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, onlyCompile bool) error {
	dir, err := os.MkdirTemp("", "kubewright-kubecore-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	root, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	s := scratch{ctx: ctx, root: root, dir: dir}
	if err := s.generate(); err != nil {
		return err
	}
	if err := s.compile(); err != nil {
		return err
	}
	if !onlyCompile {
		if err := s.runProgram(); err != nil {
			return err
		}
	}
	return s.vet()
}

// scratch is the module that everything is generated into.
type scratch struct {
	ctx       context.Context
	root, dir string
}

// command runs a program in the module.
func (s scratch) command(name string, args ...string) error {
	cmd := exec.CommandContext(s.ctx, name, args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

func (s scratch) generate() error {
	kubewright := filepath.Join(s.dir, "kubewright")
	build := exec.CommandContext(s.ctx, "go", "build", "-o", kubewright, "./cmd/kubewright")
	build.Dir = s.root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building kubewright: %w\n%s", err, out)
	}
	sums, err := os.ReadFile(filepath.Join(s.root, "go.sum"))
	if err != nil {
		return err
	}
	source, err := os.ReadFile(filepath.Join("kubecore", "testdata", "program.go"))
	if err != nil {
		return err
	}
	mod := fmt.Sprintf(`module example.com/kubecore

go 1.26.0

require (
	github.com/kubewright/kubewright v0.0.0
	k8s.io/api v0.37.2
	k8s.io/apimachinery v0.37.2
	k8s.io/client-go v0.37.2
)

replace github.com/kubewright/kubewright => %s
`, s.root)
	err = errors.Join(
		os.WriteFile(filepath.Join(s.dir, "go.mod"), []byte(mod), 0o644),
		os.WriteFile(filepath.Join(s.dir, "go.sum"), sums, 0o644),
		os.Mkdir(filepath.Join(s.dir, "program"), 0o755),
		os.WriteFile(filepath.Join(s.dir, "program", "main.go"), source, 0o644))
	if err != nil {
		return err
	}
	start := time.Now()
	if err := s.command(kubewright, "generate", "k8s.io/api/...", "--plural-exceptions", "Endpoints:Endpoints", "--prefers-protobuf"); err != nil {
		return err
	}
	fmt.Printf("generated clientset, fakes, listers and informers of k8s.io/api in %.2f s\n", time.Since(start).Seconds())
	return nil
}

func (s scratch) compile() error {
	start := time.Now()
	if err := s.command("go", "build", "-o", filepath.Join(s.dir, "bin")+string(filepath.Separator), "./program"); err != nil {
		return err
	}
	fmt.Printf("the program that uses them compiles (%.0f s)\n", time.Since(start).Seconds())
	return nil
}

// vet compiles and vets everything, the fakes too.
func (s scratch) vet() error {
	start := time.Now()
	if err := s.command("go", "vet", "./..."); err != nil {
		return err
	}
	fmt.Printf("all that was generated compiles and vets (%.0f s)\n", time.Since(start).Seconds())
	return nil
}

func (s scratch) runProgram() (err error) {
	binaries, err := kubeserver.Build(s.ctx, os.Stdout)
	if err != nil {
		return err
	}
	server, err := kubeserver.Start(s.ctx, binaries, kubeserver.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	config := server.Config()
	proxy, err := tcpproxy.Start(strings.TrimPrefix(config.Host, "https://"))
	if err != nil {
		return err
	}
	defer proxy.Close()
	proxied := server.Config()
	proxied.Host = "https://" + proxy.Addr()
	watch, write := filepath.Join(s.dir, "watch.kubeconfig"), filepath.Join(s.dir, "write.kubeconfig")
	if err := errors.Join(writeKubeconfig(watch, proxied), writeKubeconfig(write, config)); err != nil {
		return err
	}
	fmt.Println("started a kube-apiserver, with its etcd")
	return s.converse(server, proxy, watch, write)
}

// converse runs the program and does what it asks for.
func (s scratch) converse(server *kubeserver.Server, proxy *tcpproxy.Proxy, kubeconfigs ...string) error {
	cmd := exec.CommandContext(s.ctx, filepath.Join(s.dir, "bin", "program"), kubeconfigs...)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	answers, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	for lines := bufio.NewScanner(output); lines.Scan(); {
		word, asked := strings.CutPrefix(lines.Text(), "please ")
		if !asked {
			fmt.Println(" ", lines.Text())
			continue
		}
		switch word {
		case "cut":
			proxy.Cut()
		case "down":
			proxy.Down()
		case "up":
			proxy.Up()
		case "restart":
			err = server.Restart(s.ctx)
		default:
			err = fmt.Errorf("the program asks for %q", word)
		}
		if err != nil {
			answers.Close() // which ends the program
			break
		}
		if _, err = io.WriteString(answers, "done\n"); err != nil {
			break
		}
	}
	if werr := cmd.Wait(); werr != nil {
		return errors.Join(err, fmt.Errorf("the program: %w\n%s", werr, complaints.String()))
	}
	if err == nil {
		fmt.Printf("nothing was missed; %d connections were made\n", proxy.Connections())
	}
	return err
}

func writeKubeconfig(path string, config *rest.Config) error {
	const name = "kubecore"
	return clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{name: {
			Server: config.Host, CertificateAuthorityData: config.CAData, CertificateAuthority: config.CAFile,
			TLSServerName: config.ServerName, InsecureSkipTLSVerify: config.Insecure,
		}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{name: {Token: config.BearerToken}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	}, path)
}
