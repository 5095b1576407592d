package kwprometheus

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// join registers own, or returns the collector that the registry has under its name, which
// may have another help text and further labels.
func join[V prometheus.Collector](registerer prometheus.Registerer, own V) V {
	var candidate prometheus.Collector = own
	if there := describedAs(registerer, own); there != nil {
		candidate = described{there}
	}
	err := registerer.Register(candidate)
	if err == nil {
		return own
	}
	var already prometheus.AlreadyRegisteredError
	if !errors.As(err, &already) {
		panic(fmt.Sprintf("kwprometheus: %v", err))
	}
	vec, ok := unwrap[V](already.ExistingCollector)
	if !ok {
		panic(fmt.Sprintf("kwprometheus: the registry has a %T of the name of a %T",
			already.ExistingCollector, own))
	}
	return vec
}

// described is a collector with the description of a registered one. Registering it fails
// with an error that has the registered collector: the registry returns that only if name,
// help and labels agree.
type described struct{ *prometheus.Desc }

func (d described) Describe(ch chan<- *prometheus.Desc) { ch <- d.Desc }
func (d described) Collect(chan<- prometheus.Metric)    {}

// describedAs returns the registry's description of the metric with own's name, nil if there
// is none or the registerer can't be asked.
func describedAs(registerer prometheus.Registerer, own prometheus.Collector) *prometheus.Desc {
	registry, ok := registerer.(prometheus.Collector)
	if !ok {
		return nil
	}
	for _, mine := range descriptions(own) {
		for _, there := range descriptions(registry) {
			if name(mine) == name(there) {
				return there
			}
		}
	}
	return nil
}

func descriptions(c prometheus.Collector) (descs []*prometheus.Desc) {
	ch := make(chan *prometheus.Desc)
	go func() {
		c.Describe(ch)
		close(ch)
	}()
	for desc := range ch {
		descs = append(descs, desc)
	}
	return descs
}

// name cuts the name out of a description's text: a description has no other access to it.
func name(desc *prometheus.Desc) string {
	name, _, _ := strings.Cut(desc.String(), ", help: ")
	return name
}

// unwrap finds a V in a collector: the collector, or what it embeds, as
// component-base's do.
func unwrap[V prometheus.Collector](c prometheus.Collector) (V, bool) {
	if v, ok := c.(V); ok {
		return v, true
	}
	var none V
	outer := reflect.Indirect(reflect.ValueOf(c))
	if outer.Kind() != reflect.Struct {
		return none, false
	}
	for i := range outer.NumField() {
		if field := outer.Type().Field(i); field.Anonymous && field.IsExported() {
			if v, ok := outer.Field(i).Interface().(V); ok {
				return v, true
			}
		}
	}
	return none, false
}
