package clientsource_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/runtime/internal/clientsource"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// authority issues certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{t, cert, key}
}

func (a *authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// issue returns a certificate for a name and its key, as PEM.
func (a *authority) issue(name string, until time.Time) (cert, key []byte) {
	a.t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: until,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	if ip := net.ParseIP(name); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &private.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	encoded, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		a.t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: encoded})
}

// pair is issue for [crypto/tls].
func (a *authority) pair(name string, until time.Time) tls.Certificate {
	a.t.Helper()
	pair, err := tls.X509KeyPair(a.issue(name, until))
	if err != nil {
		a.t.Fatal(err)
	}
	return pair
}

// secureServer serves a list and a watch of one config map over TLS, and counts the requests.
func secureServer(t *testing.T, config *tls.Config) (url string, requests *atomic.Int32) {
	requests = &atomic.Int32{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.Header.Get("Authorization") != "Bearer a-secret-token" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		body := reply{body: listHead + configMap + "]}"}
		if r.URL.Query().Get("watch") != "" {
			body.body = event("ADDED", watchedMap)
		}
		body.serve(w, r)
	}))
	server.TLS = config
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes that fail
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL, requests
}

// secureSources are a streamed source of each kind of client, with the configuration for TLS.
func secureSources(t *testing.T, url string, config rest.TLSClientConfig) map[string]sources.Source {
	adjust := func(c *rest.Config) {
		c.Host, c.TLSClientConfig, c.BearerToken, c.QPS = url, config, "a-secret-token", -1
	}
	all := bothSources(configMapClient(t, func(http.ResponseWriter, *http.Request) {}, adjust))
	wrapped := &rest.Config{}
	adjust(wrapped)
	wrapped.Wrap(listwatch.Wrap)
	httpClient, err := rest.HTTPClientFor(wrapped)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(httpClient.CloseIdleConnections)
	c, err := dynamic.NewForConfigAndClient(wrapped, httpClient)
	if err != nil {
		t.Fatal(err)
	}
	all["dynamic"] = clientsource.FromClient(reflect.TypeFor[*unstructured.Unstructured](),
		func() sources.Client[*unstructured.UnstructuredList] {
			return c.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace("ns")
		}, clientsource.Options{Streamed: true})
	return all
}

// readSecurely lists and watches.
func readSecurely(t *testing.T, source sources.Source) (objects int, err error) {
	_, listErr := each(t.Context(), source, metav1.ListOptions{}, func(any) error { objects++; return nil })
	stream, watchErr := source.Watch(t.Context(), metav1.ListOptions{})
	for watchErr == nil {
		if _, watchErr = stream.Next(t.Context()); watchErr == nil {
			objects++
		}
	}
	if stream != nil {
		stream.Stop()
	}
	if listErr == nil && watchErr == io.EOF {
		return objects, nil
	}
	return objects, errors.Join(listErr, watchErr)
}

// expectRefusal checks that no source gets an object or sends a request, and that errors contain why.
func expectRefusal(t *testing.T, sources map[string]sources.Source, requests *atomic.Int32, why string) {
	t.Helper()
	for name, source := range sources {
		objects, err := readSecurely(t, source)
		if objects > 0 || requests.Load() > 0 || err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %d objects, %d requests, %v", name, objects, requests.Load(), err)
		}
	}
}

// TestTLSKeysAreNotPrinted checks that the errors for keys that can't be used don't show them.
func TestTLSKeysAreNotPrinted(t *testing.T) {
	ca := newAuthority(t)
	cert, key := ca.issue("client", inAnHour())
	_, other := ca.issue("client", inAnHour())
	for name, data := range map[string][]byte{
		"of another certificate": other, "cut": key[:len(key)/2],
		"no PEM": []byte(strings.ReplaceAll(string(key), "-", "")),
	} {
		_, err := rest.HTTPClientFor(&rest.Config{Host: "https://server.example",
			TLSClientConfig: rest.TLSClientConfig{CAData: ca.pem(), CertData: cert, KeyData: data}})
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for line := range strings.Lines(string(data)) {
			if !strings.Contains(line, "EC PRIVATE KEY") && strings.Contains(err.Error(), strings.TrimSpace(line)) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func inAnHour() time.Time { return time.Now().Add(time.Hour) }

// TestTLSVerified checks that servers with the right certificate are read, and get the client's certificate.
func TestTLSVerified(t *testing.T) {
	ca := newAuthority(t)
	url, _ := secureServer(t, &tls.Config{Certificates: []tls.Certificate{ca.pair("127.0.0.1", inAnHour())},
		ClientCAs: ca.pool(), ClientAuth: tls.RequireAndVerifyClientCert})
	cert, key := ca.issue("client", inAnHour())
	for name, source := range secureSources(t, url,
		rest.TLSClientConfig{CAData: ca.pem(), CertData: cert, KeyData: key}) {
		if objects, err := readSecurely(t, source); objects != 2 || err != nil {
			t.Errorf("%s: %d objects, %v", name, objects, err)
		}
	}
}

// TestTLSWrongAuthority checks that a server is refused if its certificate is of an authority that the client
// doesn't trust: another one, or one that only the system may trust.
func TestTLSWrongAuthority(t *testing.T) {
	url, requests := secureServer(t,
		&tls.Config{Certificates: []tls.Certificate{newAuthority(t).pair("127.0.0.1", inAnHour())}})
	for _, config := range []rest.TLSClientConfig{{CAData: newAuthority(t).pem()}, {}} {
		expectRefusal(t, secureSources(t, url, config), requests, "certificate signed by unknown authority")
	}
}

// TestTLSWrongName checks that a server is refused if its certificate is for another name.
func TestTLSWrongName(t *testing.T) {
	ca := newAuthority(t)
	pair := ca.pair("elsewhere", inAnHour())
	url, requests := secureServer(t, &tls.Config{Certificates: []tls.Certificate{pair}})
	expectRefusal(t, secureSources(t, url, rest.TLSClientConfig{CAData: ca.pem()}), requests,
		"cannot validate certificate for 127.0.0.1")
	expectRefusal(t, secureSources(t, url, rest.TLSClientConfig{CAData: ca.pem(), ServerName: "here"}), requests,
		"certificate is valid for elsewhere, not here")
}

// TestTLSExpired checks that a server is refused if its certificate has expired.
func TestTLSExpired(t *testing.T) {
	ca := newAuthority(t)
	url, requests := secureServer(t, &tls.Config{
		Certificates: []tls.Certificate{ca.pair("127.0.0.1", time.Now().Add(-time.Minute))}})
	expectRefusal(t, secureSources(t, url, rest.TLSClientConfig{CAData: ca.pem()}), requests,
		"certificate has expired or is not yet valid")
}

// TestTLSClientCertificate checks that the error reports the refusal of a client without a certificate, or
// with one of a wrong authority.
func TestTLSClientCertificate(t *testing.T) {
	ca := newAuthority(t)
	cert, key := newAuthority(t).issue("client", inAnHour())
	// In TLS 1.3 the refusal comes after the client's handshake, so the client may only see that the connection
	// is gone.
	for version, why := range map[uint16]string{tls.VersionTLS12: "remote error: tls: ", tls.VersionTLS13: ""} {
		url, requests := secureServer(t, &tls.Config{MinVersion: version, MaxVersion: version,
			Certificates: []tls.Certificate{ca.pair("127.0.0.1", inAnHour())}, ClientCAs: ca.pool(),
			ClientAuth: tls.RequireAndVerifyClientCert})
		expectRefusal(t, secureSources(t, url, rest.TLSClientConfig{CAData: ca.pem()}), requests, why)
		expectRefusal(t,
			secureSources(t, url, rest.TLSClientConfig{CAData: ca.pem(), CertData: cert, KeyData: key}),
			requests, why)
	}
}
