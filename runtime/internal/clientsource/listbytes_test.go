package clientsource_test

import (
	"net/http"
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestListBytes checks that the bytes of all pages of the last list are counted, whoever decodes them, and
// none without a transport.
func TestListBytes(t *testing.T) {
	first, second := listHead+item("a")+","+item("b")+"]}", listHead+item("c")+"]}"
	broken := first[:len(first)-3] // It isn't counted.
	for _, wrapped := range []bool{true, false} {
		for _, streams := range []bool{true, false} {
			t.Setenv("KUBEWRIGHT_STREAMING", strconv.FormatBool(streams))
			source := fromListWatch(maps(restClient(t, func(w http.ResponseWriter, r *http.Request) {
				body := map[string]string{"": first, "more": second, "broken": broken}[r.URL.Query().Get("continue")]
				reply{body: body}.serve(w, r)
			}, wrapped)))
			for n, page := range []string{"", "more", "more", ""} {
				if _, err := source.List(t.Context(), metav1.ListOptions{Continue: page}, &staged{}); err != nil {
					t.Fatal(err)
				}
				if _, err := source.List(t.Context(), metav1.ListOptions{Continue: "broken"}, &staged{}); err == nil {
					t.Fatal("the broken page was read")
				}
				want := int64(len(first) + n%3*len(second))
				if got := readingOf(source).ListBytes; wrapped && got != want || !wrapped && got != 0 {
					t.Errorf("wrapped %t, streams %t, after %d pages: %d bytes, want %d",
						wrapped, streams, n+1, got, want)
				}
			}
		}
	}
}
