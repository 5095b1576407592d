package eyes_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/runtime/queue"
)

// A program that serves what it is doing. `kubewright eyes URL` prints it.
func Example() {
	q := queue.New(queue.Config[string]{})
	e := eyes.New(eyes.Options{})
	e.AddQueue("bakeries", q)
	mux := http.NewServeMux()
	mux.Handle("/debug/eyes", e)

	q.Add("shop/one")
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/debug/eyes", nil))
	for _, line := range strings.Split(answer.Body.String(), "\n")[2:] {
		fmt.Println(strings.Join(strings.Fields(line), " "))
	}
	// Output:
	// no findings
	//
	// QUEUE READY IN PROCESS AGAIN PARKED DELAYED NEXT DUE HANDED OUT LONGEST RUNNING OLDEST WAITING FAILING
	// bakeries 1 0 0 0 0 - 0 - - 0
}
