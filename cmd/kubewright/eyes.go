package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// eyesOptions are the flags of the command eyes.
type eyesOptions struct {
	asJSON, insecure              bool
	tokenFile, caFile, owner, key string
}

// eyesPause is the time before a second look: package eyes compares looks that are ten seconds apart.
var eyesPause = 11 * time.Second

func eyesCommand() *cobra.Command {
	var o eyesOptions
	cmd := &cobra.Command{
		Use:   "eyes URL",
		Short: "Show what a running program's informers and queues do, and why they don't",
		Long: `eyes prints what the handler of package eyes serves at a URL: findings, then tables of informers, handlers
and queues. Some findings compare two looks, so it looks a second time if there was none from 10 to 30 seconds before.

The exit status is 1 if there are findings, and 2 if the program can't be reached or serves something else. With
--key and --owner it is 0 or 2.`,
		Example: `  kubectl port-forward deploy/bakery 8080
  kubewright eyes http://127.0.0.1:8080/debug/eyes

  # behind the authentication of controller-runtime's metrics server
  kubewright eyes https://127.0.0.1:8443/debug/eyes --token-file token --ca-file ca.crt`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("give one URL of a page, such as http://127.0.0.1:8080/debug/eyes")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.asJSON, "json", false, "print JSON, whose form has a number in the field schema")
	flags.StringVar(&o.owner, "owner", "",
		"only print which member of a sharded controller owns a namespace, or a UID")
	flags.StringVar(&o.key, "key", "",
		"only print what a key of the queues waits for, and what has happened to it")
	flags.StringVar(&o.tokenFile, "token-file", "", "send the bearer token in this file")
	flags.StringVar(&o.caFile, "ca-file", "", "trust the certificates in this file, in PEM")
	flags.BoolVar(&o.insecure, "insecure-skip-tls-verify", false,
		"don't verify the server's certificate: whoever answers gets the token")
	return cmd
}

// errFindings is the error of a look that has found something. It has printed that.
type errFindings struct{ error }

func (e errFindings) Unwrap() error { return e.error }

func (o *eyesOptions) run(cmd *cobra.Command, target string) error {
	for _, flag := range []string{"key", "owner"} {
		if f := cmd.Flags().Lookup(flag); f.Changed && f.Value.String() == "" {
			return fmt.Errorf("--%s is empty", flag)
		}
	}
	request, err := o.request(cmd.Context(), target)
	if err != nil {
		return err
	}
	client, err := o.client()
	if err != nil {
		return err
	}
	answer, err := look(client, request)
	if err != nil {
		return err
	}
	if answer.header.Get("Kubewright-Compared") == "false" {
		fmt.Fprintf(cmd.ErrOrStderr(),
			"nothing recent to compare with: looking again in %v, for findings that need two looks\n", eyesPause)
		select {
		case <-time.After(eyesPause):
		case <-cmd.Context().Done():
			return cmd.Context().Err()
		}
		if answer, err = look(client, request); err != nil {
			return err
		}
	}
	if _, err := cmd.OutOrStdout().Write(answer.body); err != nil {
		return err
	}
	if answer.header.Get("Kubewright-Findings") != "0" {
		return errFindings{errReported}
	}
	return nil
}

// request returns the request for a look.
func (o *eyesOptions) request(ctx context.Context, target string) (*http.Request, error) {
	at, err := url.Parse(target)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
		return nil, fmt.Errorf("%q is no URL of a page of eyes: give one such as "+
			"http://127.0.0.1:8080/debug/eyes", target)
	}
	query := at.Query()
	if o.asJSON {
		query.Set("format", "json")
	}
	if o.key != "" && o.owner != "" {
		return nil, errors.New("--key and --owner are two questions: give one of them")
	}
	if o.key != "" {
		query.Set("key", o.key)
	}
	if o.owner != "" {
		query.Set("owner", o.owner)
	}
	at.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	if o.tokenFile != "" {
		token, err := os.ReadFile(o.tokenFile)
		if err != nil {
			return nil, fmt.Errorf("read the token: %w", err)
		}
		request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	return request, nil
}

func (o *eyesOptions) client() (*http.Client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: o.insecure}
	if o.caFile != "" {
		text, err := os.ReadFile(o.caFile)
		if err != nil {
			return nil, fmt.Errorf("read the certificates: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s has no certificate in PEM", o.caFile)
		}
		transport.TLSClientConfig.RootCAs = pool
	}
	return &http.Client{Transport: transport, Timeout: 30 * time.Second}, nil
}

// lookAnswer is what a program has answered.
type lookAnswer struct {
	header http.Header
	body   []byte
}

func look(client *http.Client, request *http.Request) (*lookAnswer, error) {
	response, err := client.Do(request)
	switch {
	case os.IsTimeout(err):
		return nil, fmt.Errorf("no answer in time: the program can't be reached, or what it looks at hangs: %w",
			err)
	case err != nil:
		return nil, fmt.Errorf("the program can't be reached: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the answer was cut: %w", err)
	case response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden:
		return nil, fmt.Errorf("%s answers %s: give a token that may read it, with --token-file",
			request.URL, response.Status)
	case response.StatusCode != http.StatusOK:
		reason, _, _ := strings.Cut(string(body), "\n")
		return nil, fmt.Errorf("%s answers %s: %.200q", request.URL, response.Status, reason)
	case response.Header.Get("Kubewright-Findings") == "":
		return nil, errors.New(request.URL.String() + " isn't a page of package eyes")
	}
	return &lookAnswer{response.Header, body}, nil
}
