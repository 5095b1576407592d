package crd

import (
	"math"
	"regexp"
	"slices"
)

// conversion checks how a definition's versions are converted.
func (v value) conversion() {
	if v.isNull() {
		return
	}
	fields := v.object()
	v.known(fields, []string{"strategy", "webhook"}, nil)
	strategy, ok := v.need(fields, "strategy")
	if !ok {
		return
	}
	webhook, has := fields["webhook"]
	has = has && !webhook.isNull()
	switch name := strategy.oneOf("None", "Webhook"); {
	case name == "Webhook" && !has:
		v.need(fields, "webhook")
	case name == "Webhook":
		webhook.conversionWebhook()
	case has:
		webhook.errorf("only strategy: Webhook may have this")
	}
}

func (v value) conversionWebhook() {
	fields := v.object()
	v.known(fields, []string{"clientConfig", "conversionReviewVersions"}, nil)
	if client, ok := v.need(fields, "clientConfig"); ok {
		config := client.object()
		_, url := config["url"]
		service, inCluster := config["service"]
		if url == inCluster {
			client.errorf("needs either url or service")
		}
		if inCluster {
			service.service()
		}
	}
	if reviews, ok := v.need(fields, "conversionReviewVersions"); ok {
		names := reviews.texts()
		for i, item := range reviews.list() {
			item.resourceName()
			if slices.Contains(names[:i], names[i]) {
				item.errorf("given twice; remove one")
			}
		}
		if !slices.Contains(names, "v1") && !slices.Contains(names, "v1beta1") {
			reviews.errorf("needs v1 or v1beta1")
		}
	}
}

// servicePath matches the paths of webhooks.
var servicePath = regexp.MustCompile(`^(/[a-z0-9]([-.a-z0-9]*[a-z0-9])?)*/?$`)

// service checks the service of a webhook.
func (v value) service() {
	fields := v.object()
	v.known(fields, []string{"name", "namespace", "path", "port"}, nil)
	for _, key := range []string{"name", "namespace"} {
		if field, ok := v.need(fields, key); ok && field.text() == "" {
			field.errorf("is empty")
		}
	}
	if path, ok := fields["path"]; ok && !servicePath.MatchString(path.text()) {
		path.errorf("%q is no path such as /convert", path.text())
	}
	if port, ok := fields["port"]; ok && !port.isNull() {
		if n, ok := port.integer(); ok && (n < 1 || n > math.MaxUint16) {
			port.errorf("%d is no port", n)
		}
	}
}
