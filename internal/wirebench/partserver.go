package wirebench

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/kubewright/kubewright/runtime/shard"
)

// partServer is a server of small workloads that filters lists and watches by their shard selectors.
type partServer struct {
	Server
	objects [][]byte
	// hashes are the hashes of the objects, by field.
	hashes map[shard.Field][]uint64
}

// The path at which the server doesn't filter, and that at which it has no objects.
const whole, nothing = "/whole", "/nothing"

// serveParts starts a server of n small workloads.
func serveParts(tb testing.TB, n int) partServer {
	s := partServer{hashes: map[shard.Field][]uint64{}}
	for i := range n {
		text, namespace, uid := smallObject(i)
		s.objects = append(s.objects, text)
		s.hashes[shard.ByNamespace] = append(s.hashes[shard.ByNamespace], shard.Hash(namespace))
		s.hashes[shard.ByUID] = append(s.hashes[shard.ByUID], shard.Hash(uid))
	}
	mux := http.NewServeMux()
	answer := func(pattern string, objects func(selector string) [][]byte) {
		mux.HandleFunc("GET "+pattern+"/", func(w http.ResponseWriter, r *http.Request) {
			chosen := objects(r.URL.Query().Get("shardSelector"))
			recordJSON(GroupVersion.String(), "Workload", chosen).answer(w, r, nil, nil)
		})
	}
	answer("", s.selected)
	answer(whole, func(string) [][]byte { return s.objects })
	answer(nothing, func(string) [][]byte { return nil })
	server := httptest.NewServer(mux)
	tb.Cleanup(server.Close)
	s.Server = Server{Host: server.URL, Objects: n}
	return s
}

// selected returns the objects that match a selector.
func (s partServer) selected(selector string) (objects [][]byte) {
	field, ranges, err := shard.ParseSelector(selector)
	if err != nil {
		panic(err)
	}
	for i, hash := range s.hashes[field] {
		if ranges.Contains(hash) {
			objects = append(objects, s.objects[i])
		}
	}
	return objects
}

// rangesEach is how many ranges a replica has. Groups whose replicas come and go have several.
const rangesEach = 4

// part returns the part of one replica, if that many replicas share the objects evenly.
func (s partServer) part(by shard.Field, replicas int) part {
	hashes := slices.Sorted(slices.Values(s.hashes[by]))
	pieces := rangesEach * replicas
	// first returns the first hash of a piece.
	first := func(piece int) uint64 {
		if piece == 0 {
			return 0
		}
		return hashes[piece*len(hashes)/pieces]
	}
	var ranges shard.Ranges
	for piece := 0; piece < pieces; piece += replicas {
		r := shard.Range{First: first(piece), Last: math.MaxUint64}
		if piece+1 < pieces {
			r.Last = first(piece+1) - 1
		}
		ranges = ranges.Plus(shard.Join(r))
	}
	p := part{selector: must(shard.Selector(by, ranges))}
	for _, hash := range hashes {
		if ranges.Contains(hash) {
			p.objects++
		}
	}
	return p
}

// smallObject returns the JSON of the i-th small workload, 1 KB, and the values by which it is sharded. A
// namespace has 50 workloads.
func smallObject(i int) (text []byte, namespace, uid string) {
	namespace = fmt.Sprintf("team-%04d", i/50)
	random := mixed(uint64(i))
	uid = fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", random>>32, random>>16&0xffff, random>>4&0xfff,
		random&0xfff, mixed(random)>>16)
	text = fmt.Appendf(nil, smallTemplate, i, namespace, uid, i%20)
	return bytes.ReplaceAll(text, []byte("\n"), nil), namespace, uid
}

// mixed returns the i-th number of a sequence that looks random: SplitMix64.
func mixed(i uint64) uint64 {
	z := (i + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

const smallTemplate = `{"apiVersion":"bench.example.com/v1","kind":"Workload","metadata":{
"creationTimestamp":"2026-03-04T05:06:07Z","generation":3,
"labels":{"app.kubernetes.io/managed-by":"Helm","app.kubernetes.io/name":"app-%[4]d"},
"managedFields":[{"apiVersion":"bench.example.com/v1","fieldsType":"FieldsV1",
"fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:app.kubernetes.io/managed-by":{},
"f:app.kubernetes.io/name":{}}},"f:spec":{".":{},"f:image":{},"f:replicas":{}}},"manager":"helm",
"operation":"Update","time":"2026-03-04T05:06:07Z"}],
"name":"workload-%[1]d","namespace":"%[2]s","resourceVersion":"%[1]d7","uid":"%[3]s"},
"spec":{"image":"registry.example.com/shop/app-%[4]d:1.2.3","replicas":2,
"requests":{"cpu":"100m","memory":"128Mi"},"selector":{"app.kubernetes.io/name":"app-%[4]d"}},
"status":{"conditions":[{"lastTransitionTime":"2026-03-05T05:06:07Z","message":"2 of 2 instances are ready.",
"observedGeneration":3,"reason":"Ready","status":"True","type":"Available"}],"observedGeneration":3,
"readyReplicas":2,"replicas":2}}`
