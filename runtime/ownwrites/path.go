package ownwrites

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// target is what a request writes, as its path says.
type target struct {
	schema.GroupResource
	// Name and subresource are empty if the path has none: a creation, or the deletion of a collection.
	namespace, name, subresource string
}

// targetOf returns the target of a path of an API server. ok is false for paths of other forms than these,
// behind any prefix:
//
//	/api/v1/nodes
//	/api/v1/nodes/one/status
//	/api/v1/namespaces/shop/pods/one
//	/apis/apps/v1/namespaces/shop/deployments/one/scale
//
// It searches from the end, because a prefix may contain the same words. The words may also be names, so
// what looks like a version goes first.
func targetOf(path string) (found target, ok bool) {
	steps := strings.Split(strings.Trim(path, "/"), "/")
	for _, looksRight := range []func(string) bool{isVersion, func(v string) bool { return v != "" }} {
		for i, step := range slices.Backward(steps) {
			rest := steps[i+1:]
			group := ""
			switch {
			case step == "api":
			case step == "apis" && len(rest) > 0:
				group, rest = rest[0], rest[1:]
			default:
				continue
			}
			if len(rest) > 1 && looksRight(rest[0]) {
				return targetIn(group, rest[1:])
			}
		}
	}
	return target{}, false
}

// isVersion reports whether a step looks like v1, v1beta1 or v1alpha1.
func isVersion(step string) bool {
	number, ok := strings.CutPrefix(step, "v")
	for _, stability := range []string{"alpha", "beta"} {
		if major, minor, found := strings.Cut(number, stability); found {
			return ok && isNumber(major) && isNumber(minor)
		}
	}
	return ok && isNumber(number)
}

func isNumber(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// targetIn returns the target of a path below a group's version.
func targetIn(group string, steps []string) (found target, ok bool) {
	ofNamespace := len(steps) == 3 && group == "" && (steps[2] == "status" || steps[2] == "finalize")
	if len(steps) > 2 && steps[0] == "namespaces" && !ofNamespace {
		found.namespace, steps = steps[1], steps[2:]
	}
	found.Group, found.Resource = group, steps[0]
	if len(steps) > 1 {
		found.name = steps[1]
	}
	found.subresource = strings.Join(steps[min(2, len(steps)):], "/")
	return found, found.Resource != ""
}
