package tcpproxy_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/kubewright/kubewright/envtest/tcpproxy"
)

// A client that reads a stream through the proxy loses its connection, and gets another one. Use Before to
// put the proxy in front of an API server.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "hello")
		_ = http.NewResponseController(w).Flush()
		if r.URL.Path == "/stream" {
			<-r.Context().Done()
		}
	}))
	defer server.Close()
	proxy, err := tcpproxy.Start(strings.TrimPrefix(server.URL, "http://"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer proxy.Close()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	get := func(path string) *http.Response {
		response, err := client.Get("http://" + proxy.Addr() + path)
		if err != nil {
			fmt.Println(err)
			return nil
		}
		return response
	}

	stream := get("/stream")
	proxy.Cut()
	text, err := io.ReadAll(stream.Body)
	fmt.Printf("%s, and then an error: %v\n", text, err != nil)
	stream.Body.Close()
	again := get("/")
	text, err = io.ReadAll(again.Body)
	fmt.Println(string(text), err)
	again.Body.Close()
	// Output:
	// hello, and then an error: true
	// hello <nil>
}
