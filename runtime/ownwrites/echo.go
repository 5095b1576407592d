package ownwrites

import (
	"mime"
	"net/http"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// An echo is a notification of nothing but own writes of a key. Let it say that an object has changed from
// version A to B. Its addition of the key is skipped in two cases.
//
// The first: own writes lead from A to B, and the server has checked the base of each: it has created the
// object, or compared the version in the request with that of the object. Then nothing else lies between A
// and B. Less isn't enough. That B is of an own write says nothing about what lies between A and B.
//
// The second: B is of an own write, and the key began to run after its answer. The queue let it begin when
// the cache showed B, so that run has seen B and all before it.
//
// While an answer is missing, additions of the key are kept, until it arrives or the run ends.

// echoes is what a record has for echoes. Its methods may be called with nil, which has nothing.
type echoes struct {
	// own are the versions that the key has written.
	own *ownVersion
	// unanswered is the number of writes that the run has sent and that have no answer yet. run is nil if there
	// is none. Writes of other runs of the key don't count.
	unanswered int
	run        run
	// kept are the changes to decide about when there is none any more.
	kept []change
}

// change is that of an object, from one version to another. From is empty if the object is new.
type change struct {
	uid      types.UID
	from, to string
}

// ownVersion is a version of an object that a key has written.
type ownVersion struct {
	of        *record
	uid       types.UID
	namespace string
	// base is the version before it, if checked is set.
	base, version string
	checked       bool
	// seen means that the key began to run afterwards.
	seen     bool
	resource schema.GroupResource
	since    time.Duration
	among    links[ownVersion]
	// next is the next of the record.
	next *ownVersion
}

func (v *ownVersion) links() *links[ownVersion] { return &v.among }

func (e *echoes) isEmpty() bool {
	return e == nil || e.own == nil && e.unanswered == 0 && len(e.kept) == 0
}

// changeOf returns what a notification says. It returns false if its addition is never skipped: that of a
// resync, of an object that was created anew, and of objects without a version.
func changeOf(old, changed any) (c change, ok bool) {
	after, err := meta.Accessor(changed)
	if err != nil {
		return change{}, false
	}
	c = change{uid: after.GetUID(), to: after.GetResourceVersion()}
	if old != nil {
		before, err := meta.Accessor(old)
		if err != nil || before.GetUID() != c.uid || before.GetResourceVersion() == "" {
			return change{}, false
		}
		c.from = before.GetResourceVersion()
	}
	return c, c.uid != "" && c.to != "" && c.from != c.to
}

// skips reports whether an addition is skipped or kept.
func (e *echoes) skips(c change) bool {
	if e == nil {
		return false
	}
	if e.unanswered == 0 {
		return e.isEcho(c)
	}
	if n := len(e.kept) - 1; n >= 0 && e.kept[n].uid == c.uid && e.kept[n].to == c.from {
		e.kept[n].to = c.to // Own writes lead through the version between them, or not at all.
	} else {
		e.kept = append(e.kept, c)
	}
	return true
}

func (e *echoes) isEcho(c change) bool {
	for v := e.own; v != nil; v = v.next {
		if v.seen && v.uid == c.uid && v.version == c.to {
			return true
		}
	}
	at := c.from
	for step := e.own; step != nil; step = step.next { // There are at most as many steps as own versions.
		v := e.after(c.uid, at)
		if v == nil {
			return false
		}
		if at = v.version; at == c.to {
			return true
		}
	}
	return false
}

// after returns the version that was written over another one, which the server has checked, or nil.
func (e *echoes) after(uid types.UID, base string) *ownVersion {
	for v := e.own; v != nil; v = v.next {
		if v.checked && v.uid == uid && v.base == base {
			return v
		}
	}
	return nil
}

// begin notes that a run begins.
func (e *echoes) begin() {
	if e == nil {
		return
	}
	for v := e.own; v != nil; v = v.next {
		v.seen = true
	}
}

// finish notes that the run ends, and returns whether to add the key.
func (e *echoes) finish() (add bool) {
	if e == nil || e.run == nil {
		return false
	}
	e.run.end()
	e.unanswered = 0
	return e.decide()
}

// decide returns whether to add the key because of what is kept.
func (e *echoes) decide() (add bool) {
	if e.unanswered > 0 {
		return false
	}
	add = slices.ContainsFunc(e.kept, func(c change) bool { return !e.isEcho(c) })
	e.run, e.kept = nil, nil
	return add
}

// sent notes that a run has sent a write.
func (t *Tracker) sent(r run, w *write) {
	if !t.SkipEchoes {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.isOver() {
		return
	}
	e := r.record().withEchoes()
	if e.run != nil && e.run != r { // One of both writes outlives its run.
		e.run.end()
		e.unanswered = 0
	}
	e.unanswered++
	e.run, w.open, w.moves = r, true, t.moves
}

// answered notes that nothing more will be known of a write.
func (t *Tracker) answered(r run, w *write) {
	if !w.open {
		return
	}
	t.mu.Lock()
	if r.isOver() {
		t.mu.Unlock()
		return
	}
	record := r.record()
	record.echoes.unanswered--
	add := record.echoes.decide()
	record.forgetIfEmpty()
	t.mu.Unlock()
	if add {
		record.key.add()
	}
}

func (r *record) withEchoes() *echoes {
	if r.echoes == nil {
		r.echoes = &echoes{}
	}
	return r.echoes
}

// noteOwn notes the version that an answer has. The caller holds mu.
func (t *Tracker) noteOwn(r run, w *write) {
	version := w.answer.version
	if !t.SkipEchoes || version == "" || w.uid == "" || w.answer.kind == "Status" || w.removes() {
		return
	}
	if w.moves != t.moves {
		return // Its range may have left since it was sent, and others may have written there.
	}
	for _, in := range t.informers[w.GroupResource] {
		if !in.cache.Selects(&metav1.ObjectMeta{Namespace: w.namespace, UID: w.uid}) {
			return
		}
		in.watchVersion()
	}
	record := r.record()
	e := record.withEchoes()
	v := &ownVersion{
		of: record, uid: w.uid, namespace: w.namespace, base: w.base, version: version,
		checked: w.checked && w.base != version, resource: w.GroupResource, since: t.now(), next: e.own,
	}
	e.own = v
	set(&t.counts, w.GroupResource, t.counts[w.GroupResource]+1)
	t.owned.Add(1)
	t.own.push(v)
	t.arm()
}

// drop forgets an own version.
func (v *ownVersion) drop() {
	t := v.of.key.of()
	t.own.remove(v)
	t.owned.Add(-1)
	if t.counts[v.resource]--; t.counts[v.resource] == 0 {
		delete(t.counts, v.resource)
	}
	unlink(&v.of.echoes.own, v, func(v *ownVersion) **ownVersion { return &v.next })
	v.of.forgetIfEmpty()
}

// forgetOwn forgets what a key has written.
func (r *record) forgetOwn() {
	for r.echoes != nil && r.echoes.own != nil {
		r.echoes.own.drop()
	}
}

// forgetOwn forgets some own versions. The caller holds mu.
func (t *Tracker) forgetOwn(which func(*ownVersion) bool) {
	for v := t.own.first; v != nil; {
		next := v.among.after
		if which(v) {
			v.drop()
		}
		v = next
	}
}

// baseOf returns the version of the object that the server compares before it writes.
func baseOf(req *http.Request, at *target) (base string, checked bool) {
	if req.Method == http.MethodPost {
		return "", at.name == "" && at.subresource == ""
	}
	mediaType, _, _ := mime.ParseMediaType(req.Header.Get("Content-Type"))
	var s scanner = new(jsonScan)
	switch mediaType {
	case runtime.ContentTypeProtobuf:
		s = new(protobufScan)
	case string(types.JSONPatchType):
		return "", false
	}
	if req.Header.Get("Content-Encoding") != "" {
		return "", false
	}
	var sent answer
	s.write(bodyOf(req), &sent)
	return sent.version, sent.version != "" && sent.version != "0"
}
