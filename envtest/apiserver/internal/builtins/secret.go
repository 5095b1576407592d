package builtins

import (
	"bytes"
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var secretRules = rules[*corev1.Secret]{
	plural: "secrets", singular: "secret",
	empty: &corev1.Secret{}, emptyList: &corev1.SecretList{},
	unversioned: true,
	name:        apivalidation.NameIsDNSSubdomain,
	validate: func(_ context.Context, s *corev1.Secret) field.ErrorList {
		errs := validateKeys("data", s.Data)
		if size(s.Data) > corev1.MaxSecretSize {
			errs = append(errs, field.TooLong(field.NewPath("data"), "", corev1.MaxSecretSize))
		}
		for _, key := range requiredKeys[s.Type] {
			if _, ok := s.Data[key]; !ok {
				errs = append(errs, field.Required(field.NewPath("data").Key(key), ""))
			}
		}
		return errs
	},
	validateUpdate: func(_ context.Context, s, old *corev1.Secret) field.ErrorList {
		var changed []string
		if !maps.EqualFunc(s.Data, old.Data, bytes.Equal) {
			changed = append(changed, "data")
		}
		return append(apivalidation.ValidateImmutableField(s.Type, old.Type, field.NewPath("type")),
			validateImmutable(s.Immutable, old.Immutable, changed)...)
	},
	fields: func(s *corev1.Secret) fields.Set { return fields.Set{"type": string(s.Type)} },
}

// requiredKeys lists what the data of a Secret must contain.
var requiredKeys = map[corev1.SecretType][]string{
	corev1.SecretTypeTLS:              {corev1.TLSCertKey, corev1.TLSPrivateKeyKey},
	corev1.SecretTypeSSHAuth:          {corev1.SSHAuthPrivateKey},
	corev1.SecretTypeDockercfg:        {corev1.DockerConfigKey},
	corev1.SecretTypeDockerConfigJson: {corev1.DockerConfigJsonKey},
}

// addSecrets registers a default that applies whenever a Secret is decoded.
func addSecrets(scheme *runtime.Scheme) error {
	scheme.AddTypeDefaultingFunc(&corev1.Secret{}, func(obj any) {
		s := obj.(*corev1.Secret)
		if s.Type == "" {
			s.Type = corev1.SecretTypeOpaque
		}
		for key, value := range s.StringData {
			if s.Data == nil {
				s.Data = map[string][]byte{}
			}
			s.Data[key] = []byte(value)
		}
		s.StringData = nil
	})
	return selectBy(scheme, corev1.SchemeGroupVersion.WithKind("Secret"), map[string]string{"type": "type"})
}
