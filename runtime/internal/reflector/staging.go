package reflector

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/runtime/listwatch"
)

// page stages one page.
func (l *lister) page(ctx context.Context, opts metav1.ListOptions) (listwatch.ListMeta, error) {
	return l.source.List(ctx, opts, func(obj any) error {
		l.sinkErr = l.staging.Add(obj, versionOf(obj))
		return l.sinkErr
	})
}

func (l *lister) restart() {
	l.discard()
	l.staging = l.sink.Begin()
}

func (l *lister) discard() {
	if l.staging != nil {
		l.staging.Discard()
		l.staging = nil
	}
}

func (l *lister) commit() error {
	staging := l.staging
	l.staging = nil
	return staging.Commit(l.version)
}

// versionOf is the resourceVersion of an object of a list, "" for one that isn't
// an API object.
func versionOf(obj any) string {
	m, err := meta.Accessor(obj)
	if err != nil {
		return ""
	}
	return m.GetResourceVersion()
}
