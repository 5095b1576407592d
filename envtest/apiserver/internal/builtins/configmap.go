package builtins

import (
	"bytes"
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var configMapRules = rules[*corev1.ConfigMap]{
	plural: "configmaps", singular: "configmap", shortNames: []string{"cm"},
	empty: &corev1.ConfigMap{}, emptyList: &corev1.ConfigMapList{},
	unversioned: true,
	name:        apivalidation.NameIsDNSSubdomain,
	validate: func(_ context.Context, c *corev1.ConfigMap) field.ErrorList {
		errs := append(validateKeys("data", c.Data), validateKeys("binaryData", c.BinaryData)...)
		for _, key := range slices.Sorted(maps.Keys(c.Data)) {
			if _, twice := c.BinaryData[key]; twice {
				errs = append(errs, field.Invalid(field.NewPath("data").Key(key), key,
					"duplicate of key present in binaryData"))
			}
		}
		if size(c.Data)+size(c.BinaryData) > corev1.MaxSecretSize {
			errs = append(errs, field.TooLong(field.NewPath(""), "", corev1.MaxSecretSize))
		}
		return errs
	},
	validateUpdate: func(_ context.Context, c, old *corev1.ConfigMap) field.ErrorList {
		var changed []string
		if !maps.Equal(c.Data, old.Data) {
			changed = append(changed, "data")
		}
		if !maps.EqualFunc(c.BinaryData, old.BinaryData, bytes.Equal) {
			changed = append(changed, "binaryData")
		}
		return validateImmutable(c.Immutable, old.Immutable, changed)
	},
}

// validateKeys checks the keys of the data in a ConfigMap or Secret.
func validateKeys[V any](name string, data map[string]V) (errs field.ErrorList) {
	for _, key := range slices.Sorted(maps.Keys(data)) {
		for _, message := range validation.IsConfigMapKey(key) {
			errs = append(errs, field.Invalid(field.NewPath(name).Key(key), key, message))
		}
	}
	return errs
}

func size[V string | []byte](data map[string]V) (bytes int) {
	for _, value := range data {
		bytes += len(value)
	}
	return bytes
}

// validateImmutable refuses changes of an object that was marked as immutable.
func validateImmutable(immutable, was *bool, changed []string) (errs field.ErrorList) {
	if was == nil || !*was {
		return nil
	}
	if immutable == nil || !*immutable {
		changed = append([]string{"immutable"}, changed...)
	}
	for _, name := range changed {
		errs = append(errs, field.Forbidden(field.NewPath(name), "field is immutable when `immutable` is set"))
	}
	return errs
}
