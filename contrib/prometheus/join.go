package kwprometheus

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// join registers own, or returns what the registry has under its name. There
// it may have another help text and further labels.
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
		panic(fmt.Sprintf("kwprometheus: the registry has a %T of the name of a %T", already.ExistingCollector, own))
	}
	return vec
}

// described is registered in place of a collector to be told about the one
// that is there: the registry compares names, help and labels first, and says
// which collector it has only when all of them agree.
type described struct{ *prometheus.Desc }

func (d described) Describe(ch chan<- *prometheus.Desc) { ch <- d.Desc }
func (d described) Collect(chan<- prometheus.Metric)    {}

// describedAs returns how a registry describes what it has under own's name,
// nil when it has nothing, or when it is no registry that can be asked.
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

// name cuts the name out of the only thing that a description reveals.
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
