package kwctrl

import (
	"reflect"
	"strings"

	toolscache "k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/informer"
)

// AddEventHandlerWithOptions names the handlers of controllers: their types are the same in all controllers.
func (i *identified) AddEventHandlerWithOptions(
	handler toolscache.ResourceEventHandler, options toolscache.HandlerOptions,
) (toolscache.ResourceEventHandlerRegistration, error) {
	return informer.AddEventHandler(i.SharedIndexInformer, handler, informer.HandlerOptions{
		Name: nameOf(handler), Logger: options.Logger, ResyncPeriod: options.ResyncPeriod,
	})
}

// nameOf returns the name of the controller that a handler of controller-runtime adds to, or, if the queue
// doesn't know it, the type of the controller's own handler inside. It returns "" for other handlers. Nobody
// else knows the two, so this reads what controller-runtime doesn't export. TestEyes and TestHandlerNames
// fail if a new version names it otherwise.
func nameOf(handler toolscache.ResourceEventHandler) string {
	t := reflect.TypeOf(handler)
	if t == nil || t.Kind() != reflect.Pointer ||
		!strings.HasPrefix(t.Elem().PkgPath(), "sigs.k8s.io/controller-runtime/") {
		return ""
	}
	v := reflect.ValueOf(handler)
	if name := fieldOf(fieldOf(v, "queue"), "name"); name.Kind() == reflect.String {
		return name.String()
	}
	inside := fieldOf(v, "handler")
	if inside.Kind() != reflect.Interface || inside.IsNil() {
		return ""
	}
	// Type arguments are long, and those of controller-runtime's handlers change with its versions.
	name, _, _ := strings.Cut(inside.Elem().Type().String(), "[")
	return strings.TrimPrefix(name, "*")
}

// fieldOf returns a field of a struct, or of one that v points to, and no value if there is none.
func fieldOf(v reflect.Value, name string) (field reflect.Value) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return field
	}
	if f, ok := v.Type().FieldByName(name); ok {
		field, _ = v.FieldByIndexErr(f.Index)
	}
	return field
}
