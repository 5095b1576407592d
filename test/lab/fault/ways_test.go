package fault_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/test/lab/fault"
)

// ways are the ways into a proxy.
var ways = []string{"transport", "HTTP/1.1", "HTTP/2"}

// rig is a proxy before an API server, with a client, in a bubble.
type rig struct {
	*testing.T
	way      string
	api      *api
	proxy    *fault.Proxy
	server   *fault.Server // nil without connections
	client   *http.Client
	url      string
	encoding encoding
}

// everyWay runs test for each way and each encoding.
func everyWay(t *testing.T, plan fault.Plan, test func(*rig)) {
	for _, way := range ways {
		for _, mediaType := range []string{jsonType, protobufType} {
			t.Run(way+" "+mediaType, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { test(newRig(t, way, mediaType, plan)) })
			})
		}
	}
}

func newRig(t *testing.T, way, mediaType string, plan fault.Plan) *rig {
	r := &rig{T: t, way: way, api: &api{}}
	r.encoding, _ = encodingOf(mediaType)
	r.proxy = fault.New(fault.Handler(r.api), plan)
	t.Cleanup(r.proxy.Close)
	if way == "transport" {
		config := r.proxy.Config()
		r.client, r.url = &http.Client{Transport: config.Transport}, config.Host
		return r
	}
	var err error
	opts := fault.ServerOptions{HTTP1: way == "HTTP/1.1", Network: &fault.Network{}}
	if r.server, err = r.proxy.Listen(opts); err != nil {
		t.Fatal(err)
	}
	r.client, r.url = clientOf(r.server.Config()), r.server.Config().Host
	t.Cleanup(r.client.CloseIdleConnections)
	return r
}

// clientOf returns a client that pings as client-go's clients do.
func clientOf(config *rest.Config) *http.Client {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(config.CAData)
	return &http.Client{Transport: &http.Transport{
		DialContext: config.Dial, TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true,
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}}
}

// forgetConnections keeps net/http from retrying an HTTP/1.1 request, which it does when a connection that it
// has used before ends without a response.
func (r *rig) forgetConnections() {
	if r.way == "HTTP/1.1" {
		r.client.CloseIdleConnections()
	}
}

// Paths of requests of each kind.
const (
	listPath      = "/api/v1/configmaps?resourceVersion=50"
	pagePath      = "/api/v1/configmaps?continue=token"
	watchPath     = "/api/v1/configmaps?watch=true&resourceVersion=100&timeoutSeconds=60"
	watchListPath = watchPath + "&sendInitialEvents=true"
)

var paths = map[fault.Kind]string{
	fault.List: listPath, fault.Page: pagePath, fault.Watch: watchPath, fault.WatchList: watchListPath,
}

// result is what a client received.
type result struct {
	status int
	header http.Header
	body   []byte
	// err is the error of the request or of the body; nil if the response is complete.
	err         error
	took        time.Duration
	certificate string // the serial number
}

// errGaveUp is the error of a client that waited for ten minutes.
var errGaveUp = errors.New("nothing came")

func (r *rig) get(path string) result {
	r.Helper()
	ctx, cancel := context.WithTimeoutCause(r.Context(), 10*time.Minute, errGaveUp)
	defer cancel()
	begin := time.Now()
	fail := func(res result, err error) result {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		res.err, res.took = err, time.Since(begin)
		return res
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url+path, nil)
	if err != nil {
		r.Fatal(err)
	}
	req.Header.Set("Accept", r.encoding.MediaType)
	req.Header.Set("User-Agent", "test")
	resp, err := r.client.Do(req)
	if err != nil {
		return fail(result{}, err)
	}
	defer resp.Body.Close()
	res := result{status: resp.StatusCode, header: resp.Header}
	if resp.TLS != nil {
		res.certificate = resp.TLS.PeerCertificates[0].SerialNumber.String()
	}
	if want := map[string]int{"HTTP/1.1": 1, "HTTP/2": 2}[r.way]; want != 0 && resp.ProtoMajor != want {
		r.Errorf("the protocol is %s", resp.Proto)
	}
	if res.body, err = io.ReadAll(resp.Body); err != nil {
		return fail(res, err)
	}
	res.took = time.Since(begin)
	return res
}
