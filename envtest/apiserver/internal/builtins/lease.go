package builtins

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var leaseRules = rules[*coordinationv1.Lease]{
	plural: "leases", singular: "lease",
	empty: &coordinationv1.Lease{}, emptyList: &coordinationv1.LeaseList{},
	createdByPut: true,
	name:         apivalidation.NameIsDNSSubdomain,
	validate: func(_ context.Context, l *coordinationv1.Lease) (errs field.ErrorList) {
		if d := l.Spec.LeaseDurationSeconds; d != nil && *d <= 0 {
			errs = append(errs, field.Invalid(field.NewPath("spec", "leaseDurationSeconds"), *d,
				"must be greater than 0"))
		}
		if n := l.Spec.LeaseTransitions; n != nil && *n < 0 {
			errs = append(errs, field.Invalid(field.NewPath("spec", "leaseTransitions"), *n,
				"must be greater than or equal to 0"))
		}
		return errs
	},
}
