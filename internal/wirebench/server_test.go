package wirebench

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"testing"
)

// objects is how many there are; fewer are enough to see that it works.
var objects = setting("WIREBENCH_OBJECTS", 20000)

// setting is a number from the environment.
func setting(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

const bookmark = `{"type":"BOOKMARK","object":{"apiVersion":"bench.example.com/v1","kind":"Workload","metadata":{"resourceVersion":"1000000","annotations":{"k8s.io/initial-events-end":"true"}}}}` + "\n"

// replay is a server that answers lists and watches from what it has recorded.
func replay(tb testing.TB) *httptest.Server {
	recorded := make([][]byte, objects)
	for i := range recorded {
		recorded[i] = object(i)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		query := r.URL.Query()
		switch {
		case query.Get("watch") == "":
			fmt.Fprintf(w, `{"apiVersion":"bench.example.com/v1","items":[`)
			for i, o := range recorded {
				if i > 0 {
					w.Write([]byte(","))
				}
				w.Write(o)
			}
			fmt.Fprintf(w, `],"kind":"WorkloadList","metadata":{"resourceVersion":"1000000"}}`+"\n")
			return
		case query.Get("sendInitialEvents") == "true":
			for _, o := range recorded {
				w.Write([]byte(`{"type":"ADDED","object":`))
				w.Write(o)
				w.Write([]byte("}\n"))
			}
			w.Write([]byte(bookmark))
		}
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	tb.Cleanup(server.Close)
	return server
}
