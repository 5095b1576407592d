package fault

import (
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/internal/guarantee"
)

// serverFaults are the faults that servers may have within their contract.
func serverFaults() []Fault {
	return []Fault{
		{Name: "410-list", On: List, do: refusing(http.StatusGone, metav1.StatusReasonExpired),
			Guarantee: guarantee.Converging, About: "410: the version of the list has expired"},
		{Name: "410-watch", On: Watches, do: refusing(http.StatusGone, metav1.StatusReasonGone),
			Guarantee: guarantee.Converging, About: "410: the version of the watch has expired"},
		{Name: "410-event", On: Watches, For: soon, do: ends(errExpired),
			Guarantee: guarantee.Converging, About: "the watch ends with an event of type ERROR: 410"},
		{Name: "expired-token", On: Page, do: refusing(http.StatusGone, metav1.StatusReasonExpired),
			Guarantee: guarantee.Converging, About: "410: the list has expired between two pages"},
		{Name: "too-large-version", On: List | WatchList, do: tooLargeVersion,
			Guarantee: guarantee.Converging,
			About:     "504: the server, one of several, hasn't reached the version yet"},
		{Name: "429", On: Reads, do: refusing(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests),
			Guarantee: guarantee.BoundedLoad, About: "429 without Retry-After"},
		{Name: "429-retry-after", On: Reads, For: seconds, do: retryAfter,
			Guarantee: guarantee.BoundedLoad, About: "429 with Retry-After"},
		{Name: "500", On: Reads, do: refusing(http.StatusInternalServerError, metav1.StatusReasonInternalError),
			Guarantee: guarantee.Converging, About: "500"},
		{Name: "500-event", On: Watches, For: soon, do: ends(errInternal),
			Guarantee: guarantee.Converging, About: "the watch ends with an event of type ERROR: 500"},
		{Name: "502-html", On: Reads, do: html(http.StatusBadGateway),
			Guarantee: guarantee.Converging, About: "502 and a page of HTML, as load balancers send it"},
		{Name: "503", On: Reads, do: refusing(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable),
			Guarantee: guarantee.BoundedLoad, About: "503"},
		{Name: "504", On: Reads, do: refusing(http.StatusGatewayTimeout, metav1.StatusReasonTimeout),
			Guarantee: guarantee.Converging, About: "504"},
		{Name: "401-while", On: Reads, For: aWhile,
			do:        refusingWhile((*exchange).sameClient, http.StatusUnauthorized, metav1.StatusReasonUnauthorized),
			Guarantee: guarantee.Converging, About: "401 for every request of the client until it is lifted"},
		{Name: "403-while", On: Reads, For: aWhile,
			do:        refusingWhile((*exchange).sameResource, http.StatusForbidden, metav1.StatusReasonForbidden),
			Guarantee: guarantee.Converging,
			About:     "403 for every request of the client for the resource, for a while"},
		{Name: "404-while", On: Reads, For: aWhile,
			do:        refusingWhile((*exchange).sameResource, http.StatusNotFound, metav1.StatusReasonNotFound),
			Guarantee: guarantee.Converging,
			About:     "404 for every request of the client for the resource, for a while"},
		{Name: "close-at-once", On: Watches, For: aWhile, do: closeAtOnce,
			Guarantee: guarantee.BoundedLoad,
			About:     "every watch of the client ends in good order as soon as it is open, for a while"},
		{Name: "missing-bookmarks", On: Watches, do: edits(missingBookmarks),
			Guarantee: guarantee.Resumable, About: "no bookmark comes but the one that ends the initial events"},
	}
}

// ends returns a fault that ends a list after After bytes, a watch after For.
func ends(with *ending) func(*exchange) (*http.Response, error) {
	return func(x *exchange) (*http.Response, error) { return breakOff(x, with) }
}

// html returns a fault that answers with an HTML page.
func html(code int) func(*exchange) (*http.Response, error) {
	return func(*exchange) (*http.Response, error) {
		return respond(code, "text/html", htmlPage), nil
	}
}

var htmlPage = []byte("<html><body><h1>Try again later</h1></body></html>\n")

func tooLargeVersion(x *exchange) (*http.Response, error) {
	if version := x.http.URL.Query().Get("resourceVersion"); version == "" || version == "0" {
		return x.pass()
	}
	status := statusOf(http.StatusGatewayTimeout, metav1.StatusReasonTimeout)
	status.Details = &metav1.StatusDetails{RetryAfterSeconds: 1, Causes: []metav1.StatusCause{
		{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"},
	}}
	return refuse(status), nil
}

func retryAfter(x *exchange) (*http.Response, error) {
	status := statusOf(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests)
	seconds := max(1, int32(x.step.For/time.Second))
	status.Details = &metav1.StatusDetails{RetryAfterSeconds: seconds}
	return refuse(status), nil
}

func closeAtOnce(x *exchange) (*http.Response, error) {
	x.during(func(r Request) bool { return x.sameClient(r) && r.Kind&Watches != 0 }, closed, nil)
	return closed(x)
}

// closed passes a request and drops the body of the response.
func closed(x *exchange) (*http.Response, error) {
	resp, err := x.pass()
	if err == nil && resp.StatusCode == http.StatusOK {
		resp.Body.Close()
		setBody(resp, nil)
	}
	return resp, err
}

func missingBookmarks(*exchange, format) func(event, bool) ([]byte, error) {
	return func(e event, due bool) ([]byte, error) {
		if is, endsInitial := e.isBookmark(); due && is && !endsInitial {
			return nil, nil
		}
		return e.wire, nil
	}
}
