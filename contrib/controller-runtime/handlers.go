package kwctrl

import (
	"reflect"

	toolscache "k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/informer"
)

// AddEventHandlerWithOptions names the handlers of a controller after it: their types are the same in all
// controllers.
func (i *identified) AddEventHandlerWithOptions(
	handler toolscache.ResourceEventHandler, options toolscache.HandlerOptions,
) (toolscache.ResourceEventHandlerRegistration, error) {
	return informer.AddEventHandler(i.SharedIndexInformer, handler, informer.HandlerOptions{
		Name: controllerOf(handler), Logger: options.Logger, ResyncPeriod: options.ResyncPeriod,
	})
}

// controllerOf returns the name of the controller that a handler of controller-runtime adds to, "" for other
// handlers and for queues that don't know it. The handler's queue is known to nobody else, so this reads what
// controller-runtime doesn't export. TestEyes fails if a new version names it otherwise.
func controllerOf(handler toolscache.ResourceEventHandler) string {
	v := reflect.ValueOf(handler)
	for _, name := range []string{"queue", "name"} {
		for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		if v.Kind() != reflect.Struct {
			return ""
		}
		field, ok := v.Type().FieldByName(name)
		if !ok {
			return ""
		}
		var err error
		if v, err = v.FieldByIndexErr(field.Index); err != nil {
			return ""
		}
	}
	if v.Kind() != reflect.String {
		return ""
	}
	return v.String()
}
