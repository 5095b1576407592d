// Command kube-up runs a whole kube-apiserver with its etcd on 127.0.0.1.
//
//	go run ./kube-up                    until interrupted; prints the KUBECONFIG to use
//	go run ./kube-up go test ./...      as long as the command runs, with KUBECONFIG set for it
//
// With a command, kube-up exits with the command's code. At its end it stops the processes and removes their
// files; the programs stay in the user's cache folder.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubewright/kubewright/test/e2e/kubeserver"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	cancel()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		os.Exit(exit.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "kube-up:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, command []string) (err error) {
	binaries, err := kubeserver.Build(ctx, os.Stderr)
	if err != nil {
		return err
	}
	server, err := kubeserver.Start(ctx, binaries, kubeserver.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	dir, err := os.MkdirTemp("", "kubewright-kube-up-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "kubeconfig")
	if err := writeKubeconfig(path, server); err != nil {
		return err
	}
	if len(command) == 0 {
		fmt.Printf("export KUBECONFIG=%s\n", path)
		<-ctx.Done()
		return nil
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}

func writeKubeconfig(path string, server *kubeserver.Server) error {
	const name = "kubewright"
	config, kubeconfig := server.Config(), clientcmdapi.NewConfig()
	kubeconfig.Clusters[name] = &clientcmdapi.Cluster{Server: config.Host,
		CertificateAuthority: config.CAFile}
	kubeconfig.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: config.BearerToken}
	kubeconfig.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	kubeconfig.CurrentContext = name
	return clientcmd.WriteToFile(*kubeconfig, path)
}
