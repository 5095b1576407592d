package informers_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/informers/dynamicinformer"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// TestWrappedClients checks that the informer reads everything through the client's methods if the client
// isn't client-go's own, even with the transport, because the client may change objects.
func TestWrappedClients(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(servePods))
	defer server.Close()
	config := &rest.Config{Host: server.URL, QPS: -1}
	config.Wrap(listwatch.Wrap)
	client := struct{ dynamic.Interface }{dynamic.NewForConfigOrDie(config)}
	pods := corev1.SchemeGroupVersion.WithResource("pods")
	i := dynamicinformer.NewDynamicSharedInformerFactory(client, 0).ForResource(pods).Informer()
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		i.Run(stop)
	}()
	synced := cache.WaitForCacheSync(t.Context().Done(), i.HasSynced)
	s, _ := informer.StatusOf(i)
	close(stop)
	<-ended
	if !synced || s.Objects != 2 || s.Reading.Streamed != 0 || s.Reading.Whole == 0 {
		t.Errorf("%+v", s)
	}
}
