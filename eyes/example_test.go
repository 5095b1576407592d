package eyes_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/runtime/workqueue"
)

// A program that serves what it is doing. `kubewright eyes URL` prints it.
func Example() {
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	e := eyes.New(eyes.Options{})
	e.AddQueue("bakeries", workqueue.AsQueue(q)) // for a q of runtime/workqueue
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
	// bakeries 1 0 0 0 0 - 0 no metrics no metrics 0
}
