package builtins

import (
	"context"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/storage/names"
)

// object is a pointer to an API type with metadata.
type object interface {
	runtime.Object
	metav1.Object
}

// rules is what distinguishes one kind from another. Functions may be nil.
type rules[T object] struct {
	plural, singular string
	shortNames       []string
	empty            T
	emptyList        runtime.Object

	clusterScoped bool
	createdByPut  bool   // a PUT creates what doesn't exist
	unversioned   bool   // an update may leave out the resource version
	seconds       uint64 // for which an object lives; 0 means without end

	name           apivalidation.ValidateNameFunc
	prepare        func(T)          // before the validation of a new object
	prepareUpdate  func(obj, old T) // before the validation of an update
	validate       func(context.Context, T) field.ErrorList
	validateUpdate func(ctx context.Context, obj, old T) field.ErrorList // after validate
	canonicalize   func(T)                                               // after validation
	// fields returns what field selectors see of an object, besides its name and namespace.
	fields func(T) fields.Set
}

// strategy applies rules, in the form that upstream's registry requires.
type strategy[T object] struct {
	runtime.ObjectTyper
	names.NameGenerator
	rules[T]
}

func (s strategy[T]) NamespaceScoped() bool { return !s.clusterScoped }

func (s strategy[T]) AllowCreateOnUpdate(context.Context) bool { return s.createdByPut }

func (s strategy[T]) AllowUnconditionalUpdate(context.Context) bool { return s.unversioned }

func (s strategy[T]) PrepareForCreate(_ context.Context, obj runtime.Object) {
	if s.prepare != nil {
		s.prepare(obj.(T))
	}
}

func (s strategy[T]) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	if s.prepareUpdate != nil {
		s.prepareUpdate(obj.(T), old.(T))
	}
}

func (s strategy[T]) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	var errs field.ErrorList
	if s.rules.name != nil {
		errs = apivalidation.ValidateObjectMetaAccessor(
			obj.(T), s.NamespaceScoped(), s.rules.name, field.NewPath("metadata"))
	}
	if s.validate != nil {
		errs = append(errs, s.validate(ctx, obj.(T))...)
	}
	return errs
}

// ValidateUpdate leaves the metadata to the registry.
func (s strategy[T]) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	var errs field.ErrorList
	if s.validate != nil {
		errs = s.validate(ctx, obj.(T))
	}
	if s.validateUpdate != nil {
		errs = append(errs, s.validateUpdate(ctx, obj.(T), old.(T))...)
	}
	return errs
}

func (s strategy[T]) Canonicalize(obj runtime.Object) {
	if s.canonicalize != nil {
		s.canonicalize(obj.(T))
	}
}

func (strategy[T]) WarningsOnCreate(context.Context, runtime.Object) []string { return nil }

func (strategy[T]) WarningsOnUpdate(_ context.Context, _, _ runtime.Object) []string { return nil }
