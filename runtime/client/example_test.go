package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/runtime/client"
)

// For makes a typed client for a type without generated code, from a configuration and a scheme that has the
// type. Generated clients have the same methods.
func Example() {
	// In place of a cluster's API server, this one returns the objects that it receives.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Method, r.URL.Path)
		var got corev1.ConfigMap
		_ = json.NewDecoder(r.Body).Decode(&got)
		got.ResourceVersion = "1"
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(got)
	}))
	defer server.Close()

	maps, err := client.For[*corev1.ConfigMap, *corev1.ConfigMapList](
		&rest.Config{Host: server.URL}, clientgoscheme.Scheme)
	if err != nil {
		fmt.Println(err)
		return
	}
	bread := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "bread"},
		Data: map[string]string{"flour": "rye"}}
	bread, err = maps.Namespace("town").Create(context.Background(), bread, metav1.CreateOptions{})
	fmt.Println(bread.Data["flour"], "at version", bread.ResourceVersion, err)
	// Output:
	// POST /api/v1/namespaces/town/configmaps
	// rye at version 1 <nil>
}
