package informer

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/served"
	"github.com/kubewright/kubewright/runtime/internal/unwrap"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// Options configure the cache of an informer, see [Configure], or of all informers of a factory, see
// factory.Configure. The zero value behaves like client-go. What client-go's own options have, such as the
// resync period, a transform or a namespace, isn't repeated here.
type Options struct {
	// Drop lists fields that the cached objects don't have: JSON names joined by dots, such as
	// metadata.managedFields or spec.template. Elements of slices and maps have no step of their own:
	// spec.containers.env drops env of every container. A name that a type doesn't have drops nothing. The
	// fields are skipped before they are decoded, at almost no cost. Objects that aren't streamed keep them.
	// It is an error to drop the name, namespace, resourceVersion or uid of the metadata.
	//
	// If that is metadata.managedFields alone, and MetadataOnly isn't set, lists and watches also ask the
	// server not to send it. API servers from v1.38 on, with the feature gate ManagedFieldsOptOut, then
	// don't; others ignore that. If a server answers 406 Not Acceptable, the request is repeated, and its
	// client doesn't ask any more. Reading.DropSent of [Status] is set while informers ask.
	Drop []string
	// NoServerDrop is for requests that don't change: nothing asks the server to leave fields out.
	NoServerDrop bool
	// MetadataOnly drops everything but kind, apiVersion and metadata, as Drop does. The server isn't asked.
	MetadataOnly bool
	// ShareValues gives fields with the same text in several objects the same maps, slices and pointers. It
	// saves the most if objects resemble each other. Changing an object that wasn't copied first then changes
	// others, too: a transform must not write into maps, slices or pointees. An informer keeps at most 2 MB of
	// text to share.
	ShareValues bool
	// KeepUnchanged makes a list in JSON keep the cached object, without decoding the listed one, if both have
	// the same resourceVersion. By default, the text of the object must also equal that in the previous list.
	// Set it only for objects that get a new version with every change. Objects whose fields the server fills
	// in don't: a new default or conversion of a CustomResourceDefinition changes the served object but not
	// its version.
	KeepUnchanged bool
	// MaxObject is the largest size in bytes of an object's text, in lists and watches that are streamed. Zero
	// is 64 MB (64 << 20). A list or watch with a larger object fails; so does one with an object whose values,
	// without its strings, take more than four times as much memory. Without streaming there is no such limit
	// for lists, and client-go's limit of 16 MB for the events of watches.
	MaxObject int
	// NoStreams leaves reading and decoding to client-go, which reads each response as a whole.
	NoStreams bool
	// Limiter, if not nil, bounds how many of the informers that share it read a list at a time, streamed or
	// not. With a budget it also bounds how many bytes the streams may have decoded.
	Limiter *listwatch.Limiter

	// TweakListOptions, if not nil, changes the options of every list and watch, after the tweak that the
	// informer was made with.
	TweakListOptions func(*metav1.ListOptions)
	// InitialEventsTimeout is how long the informer waits for the bookmark that ends a watch-list before it
	// lists in pages instead: some servers, proxies and fakes never send that bookmark. The time that the list
	// waits for its limiter doesn't count. Zero means no timeout. A timeout shows as the last error in
	// [Status].
	InitialEventsTimeout time.Duration
	// SilenceTimeout is how long a watch may deliver nothing, not even a bookmark or a response, before the
	// informer opens another: without it, a dead connection looks like a quiet one. Most servers send a
	// bookmark about every minute, see LastBookmark of [Status]. After two silent watches the informer asks the
	// server whether it has reached their version, and lists if it hasn't: after a restore of etcd, watches stay
	// silent until the server has. Zero means no timeout, and one of five minutes or more may never end a watch,
	// as servers end it before. A timeout shows as the last error in [Status].
	SilenceTimeout time.Duration

	// Definitions, if not nil, makes the kind optional: while the server doesn't serve it, the informer is
	// empty, has synced, and sends no request. See package optional. To set it for some informers of a factory,
	// use Overrides. It needs the Resource of [Status]: an informer that starts without one logs that.
	Definitions interface {
		WaitForServed(ctx context.Context, resource schema.GroupVersionResource) error
	}

	// RecreationIsDeletion makes the informer report an object that was deleted and created again, while it
	// wasn't watching, as a missed deletion and an addition. Without it, handlers receive an update. The UID
	// distinguishes the two objects.
	RecreationIsDeletion bool
	// MutationSample makes the informer check one in MutationSample objects, for a few minutes each, for
	// modifications, which are bugs, since the objects are shared. Zero checks none. 1000 is cheap enough for
	// production. With KUBE_CACHE_MUTATION_DETECTOR=true, MutationSample and OnMutation have no effect: the
	// informer checks each object for two to four minutes after it arrives, and panics at a modification, as
	// with client-go.
	MutationSample int
	// OnMutation is called once for each modified object that is being checked, with the copy from before and
	// the object, within ten seconds of the modification or, if the informer stops, after its handlers have
	// returned. The default
	// reports an error to utilruntime, with the object's namespace and name and the fields that differ,
	// without their values.
	OnMutation func(original, modified runtime.Object)

	// OnCreate, if not nil, is called with each new informer of a factory before the factory returns it, for
	// example to declare indexes. An error is reported to utilruntime. OnCreate may call the factory: a request
	// for the same informer returns it at once, and a start takes effect when OnCreate has returned.
	OnCreate func(cache.SharedIndexInformer) error
	// Overrides are options for the informers of single resources of a factory. They replace these options as a
	// whole: nothing is merged, so copy the struct and change the copy. They must not have Overrides of their
	// own. An override for a resource of which no informer has been made by the factory's first start is
	// logged.
	Overrides map[schema.GroupResource]Options
}

// hasMadeDefinitions returns false if Definitions are set that NewDefinitions hasn't made.
func (o *Options) hasMadeDefinitions() bool {
	if o.Definitions == nil {
		return true
	}
	_, ok := o.Definitions.(served.Definitions)
	v := reflect.ValueOf(o.Definitions)
	return ok && (v.Kind() != reflect.Pointer || !v.IsNil() && !v.Elem().IsZero())
}

// Configure sets the options of an informer, in place of earlier ones. It is safe for concurrent use. It
// returns [ErrTooLate] if the informer has started, and [ErrUnsupportedInformer] if i is not an informer of
// this module. It also returns an error for negative values, for OnCreate and Overrides, which are for
// factories, and for options of decoding if the informer never streams, because it was made neither by a
// generated constructor nor with a lister-watcher of [listwatch.Streamed].
func Configure(i cache.SharedInformer, options Options) error {
	if err := configure(i, options); err != nil {
		return fmt.Errorf("configure %T: %w", i, err)
	}
	return nil
}

func configure(i cache.SharedInformer, options Options) error {
	ours, ok := unwrap.As[interface {
		Configure(Options) (streams bool, err error)
	}](i)
	if !ok {
		return unsupported(i)
	}
	if options.OnCreate != nil || options.Overrides != nil {
		return errors.New("OnCreate and Overrides are for factories")
	}
	if err := options.Validate(); err != nil {
		return err
	}
	streams, err := ours.Configure(options)
	if err == nil && !streams && options.decodes() {
		return errNoStreams
	}
	return err
}

// For returns the options for the informers of one resource of a factory: its override, or else o without
// Overrides.
func (o Options) For(resource schema.GroupResource) Options {
	if override, ok := o.Overrides[resource]; ok {
		return override
	}
	o.Overrides = nil
	return o
}

// decodes reports whether options change how objects are decoded.
func (o Options) decodes() bool {
	return len(o.Drop) > 0 || o.MetadataOnly || o.ShareValues || o.KeepUnchanged || o.MaxObject != 0 ||
		o.NoServerDrop || o.NoStreams
}

// needed are the fields that can't be dropped. Keys are made of names; versions and UIDs tell which state of
// which object is in the cache.
var needed = []string{"metadata", "metadata.name", "metadata.namespace", "metadata.resourceVersion",
	"metadata.uid"}

// Validate returns an error for values that have no meaning. [Configure] calls it.
func (o Options) Validate() error {
	for _, field := range o.Drop {
		if slices.Contains(strings.Split(field, "."), "") {
			return fmt.Errorf("drop the field %q: part of its name is missing", field)
		}
		if slices.Contains(needed, field) {
			return fmt.Errorf("drop the field %q: caches and waits for own writes need metadata.name, "+
				"metadata.namespace, metadata.resourceVersion and metadata.uid", field)
		}
	}
	switch {
	case !o.hasMadeDefinitions():
		return errors.New("the Definitions are none: make them with optional.NewDefinitions")
	case o.InitialEventsTimeout < 0:
		return fmt.Errorf("InitialEventsTimeout is %v: zero means no timeout", o.InitialEventsTimeout)
	case o.SilenceTimeout < 0:
		return fmt.Errorf("SilenceTimeout is %v: zero means no timeout", o.SilenceTimeout)
	case o.MutationSample < 0:
		return fmt.Errorf("MutationSample is %d: zero means none", o.MutationSample)
	case o.MaxObject < 0:
		return fmt.Errorf("MaxObject is %d: zero means 64 MB", o.MaxObject)
	}
	for resource, override := range o.Overrides {
		if resource.Resource == "" {
			return errors.New("an override is for no resource")
		}
		if override.Overrides != nil {
			return fmt.Errorf("the override for %s has Overrides of its own", resource)
		}
		if err := override.Validate(); err != nil {
			return fmt.Errorf("the override for %s: %w", resource, err)
		}
	}
	return nil
}
