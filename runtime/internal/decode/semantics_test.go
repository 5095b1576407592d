package decode

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

type (
	// Names exercises the rules for embedded structs and tags.
	Names struct {
		Inner
		*Behind
		Tagged `json:"tagged"`
		inner2
		A        string `json:"a"`
		Untagged string
		Dash     string `json:"-"`
		//lint:ignore SA5008 The odd tag is the point.
		Comma string `json:"-,"`
		//lint:ignore SA5008 The odd tag is the point.
		Odd    string `json:"odd\"name"`
		Spaced string `json:"with space"`
		//lint:ignore U1000 It is for the decoder to ignore.
		hidden string
		Self   *Names `json:"self"`
	}
	Inner struct {
		A     string `json:"a"` // hidden by Names.A
		B     string `json:"b"`
		Both  string `json:"both"` // hides and is hidden
		Deep  Deeper
		Third string
	}
	Deeper struct{ X int }
	Behind struct {
		P    string `json:"p"`
		Both string `json:"both"`
		B2   string `json:"Third"` // a tag wins at the same depth
	}
	Tagged struct {
		T string `json:"t"`
	}
	inner2 struct {
		FromUnexported int `json:"fromUnexported"`
	}
	text  string
	texts []text
	// Upper has an UnmarshalText of its own.
	Upper struct{ S string }

	// Kinds has a field of every kind.
	Kinds struct {
		Bool    bool
		Int     int
		I8      int8
		I16     int16
		I32     int32
		I64     int64
		U       uint
		U8      uint8
		U16     uint16
		U64     uint64
		F32     float32
		F64     float64
		S       string
		Text    text
		Texts   texts
		PS      *string
		PPI     **int
		Bytes   []byte
		Small   []uint8
		Any     any
		Anys    []any
		Map     map[string]string
		MapText map[text]text
		MapInt  map[int]string
		MapP    map[string]*Kinds
		MapAny  map[string]any
		MapS    map[string][]string
		Strings []string
		Structs []Kinds
		Array   [3]int
		Iface   json.Unmarshaler
		Quoted  int `json:",string"`
		Number  json.Number
		Raw     json.RawMessage
		Upper   Upper
		PUpper  *Upper
		MUpper  map[Upper]int
		Time    metav1.Time
		PTime   *metav1.Time
		Micro   metav1.MicroTime
		Dur     metav1.Duration
		Qty     resource.Quantity
		PQty    *resource.Quantity
		IOS     intstr.IntOrString
		PIOS    *intstr.IntOrString
		Ext     runtime.RawExtension
		Fields  *metav1.FieldsV1
		List    corev1.ResourceList
		Nested  struct{ Kinds *Kinds }
		Func    func()
		Chan    chan int
		Complex complex128
	}
)

func (u *Upper) UnmarshalText(b []byte) error { u.S = "<" + string(b) + ">"; return nil }

// documents are decoded into every type: both decoders must agree on all of them.
var documents = []string{
	`null`, `true`, `false`, `1`, `-1`, `1.5`, `1e3`, `"a"`, `""`, `[]`, `{}`, ` {} `, `[null]`, `{"a":null}`,
	`0`, `-0`, `00`, `01`, `-`, `1.`, `.5`, `1e`, `1e+`, `+1`, `1.0`, `9223372036854775807`,
	`9223372036854775808`, `-9223372036854775808`, `-9223372036854775809`,
	`127`, `128`, `255`, `256`, `65536`, `4294967296`, `18446744073709551615`, `18446744073709551616`,
	`1e400`, `1e-400`, `3.5e38`, `123456789012345678`, `1234567890123456789`,
	`"\u0041\n\t\\\/\"\b\f\r"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ud83d\u0041"`, `"\ude00x"`, `"é"`,
	"\"\xff\"", "\"a\xc3\"", "\"\x01\"", `"\x"`, `"\u12"`, `"\u12g4"`, `"`, `"\`,
	`"2026-03-04T05:06:07Z"`, `"2026-03-04T05:06:07.5Z"`, `"2026-03-04T05:06:07+01:00"`,
	`"2026-02-29T05:06:07Z"`, `"2024-02-29T23:59:59Z"`, `"2026-13-04T05:06:07Z"`, `"0000-01-01T00:00:00Z"`,
	`"1969-12-31T23:59:59Z"`, `"2026-03-04T24:00:00Z"`, `"2026-03-04T05:06:60Z"`, `"2026-03-04 05:06:07Z"`,
	`"9999-12-31T23:59:59Z"`, `"2026-04-31T00:00:00Z"`, `"1900-02-29T00:00:00Z"`, `"2000-02-29T00:00:00Z"`,
	`"1h"`, `"100m"`, `"1Gi"`, `" 1Gi "`, `"x"`, `"80%"`, `"aGVsbG8="`, `"aGVsbG8"`, `"aGVs\nbG8="`,
	`[1,2,3]`, `[1,2,3,4]`, `[1,"a"]`, `["a","b"]`, `["a",null,"a"]`, `[[1],[2]]`, `[{},{"S":"x"}]`, `[1 2]`,
	`[1,]`, `[,1]`, `[1`, `[`, `[}`,
	`{"a":"1","b":"2"}`, `{"a":1,"a":2}`, `{"1":"x","2":"y"}`, `{"1":"x","y":"z"}`, `{"a":{"S":"b"}}`,
	`{"a":["b",1,2.5,true,null,{"c":1e2}]}`,
	`{"a"}`, `{"a":}`, `{"a":1,}`, `{a:1}`, `{"a" : 1 , "b":2}`, `{"a":1 "b":2}`, `{`, `{"a`, `{"a"`, `{"a":`,
	`{"a":1`, `}`, `]`, `,`, `tru`, `nul`, `nulll`, `truefalse`, `1 2`, `{}{}`, "\x00", ``, ` `,
	`{"S":"x","s":"y"}`, `{"cpu":"1","memory":"2Gi"}`, `{"cpu":1}`, `{"cpu":"x"}`,
	`{"kind":"K","apiVersion":"v1","n":1,"f":1.5,"big":18446744073709551615}`,
}

// TestDifferentialDocuments compares the decoder with Kubernetes' own over all kinds of fields and all kinds
// of documents, also if a field occurs twice.
func TestDifferentialDocuments(t *testing.T) {
	d := New(reflect.TypeFor[*struct{}](), Options{})
	for _, typ := range []reflect.Type{
		reflect.TypeFor[Kinds](), reflect.TypeFor[Names](), reflect.TypeFor[unstructured.Unstructured](),
		reflect.TypeFor[any](),
	} {
		for _, doc := range documents {
			compare(t, d, typ, []byte(doc))
		}
	}
	kinds := reflect.TypeFor[Kinds]()
	stride := max(1, 400 / *perKind)
	for i := range kinds.NumField() {
		name := kinds.Field(i).Name
		compare(t, d, kinds.Field(i).Type, []byte(`null`))
		for j, doc := range documents {
			compare(t, d, kinds.Field(i).Type, []byte(doc))
			compare(t, d, kinds, []byte(`{"Before":1,"`+name+`":`+doc+`,"After":[{}]}`))
			compare(t, d, kinds,
				[]byte(`{ "`+name+`" : `+doc+` , "Nested" : {"Kinds": {"`+name+`":`+doc+`}}}`))
			// All pairs take a minute, so they are only tested with the flag.
			for k := (i + j) % stride; k < len(documents); k += stride {
				second := documents[k]
				compare(t, d, kinds, []byte(`{"`+name+`":`+doc+`,"`+name+`":`+second+`}`))
			}
		}
	}
}

func TestDifferentialNames(t *testing.T) {
	d := New(reflect.TypeFor[*struct{}](), Options{})
	typ := reflect.TypeFor[Names]()
	names := []string{"a", "A", "b", "B", "both", "Both", "Third", "third", "p", "tagged", "Tagged", "t",
		"Inner", "Behind", "fromUnexported", "Untagged", "untagged", "Dash", "-", "Comma", "hidden", "Deep",
		"with space", `odd\"name`, "Odd", "self", `\u0061`}
	for _, name := range names {
		for _, value := range []string{`"x"`, `null`, `1`, `{}`, `{"t":"x","X":1,"a":"y","p":"q"}`} {
			compare(t, d, typ, []byte(`{"`+name+`":`+value+`}`))
			for _, other := range names {
				compare(t, d, typ, []byte(`{"`+other+`":"o","`+name+`":`+value+`,"`+other+`":"p"}`))
			}
		}
	}
}

// TestDepth checks that nesting is limited as in encoding/json.
func TestDepth(t *testing.T) {
	d := New(reflect.TypeFor[*struct{}](), Options{})
	for _, n := range []int{maxDepth - 1, maxDepth, maxDepth + 1} {
		deep := make([]byte, 0, 2*n)
		for range n {
			deep = append(deep, '[')
		}
		for range n {
			deep = append(deep, ']')
		}
		compare(t, d, reflect.TypeFor[any](), deep)
		compare(t, d, reflect.TypeFor[struct{}](), deep)
	}
}

// TestUnixSeconds compares our count of days with the calendar.
func TestUnixSeconds(t *testing.T) {
	for day := time.Date(1, 1, 1, 12, 34, 56, 0, time.UTC); day.Year() < 3000; day = day.AddDate(0, 0, 13) {
		text := day.Format(time.RFC3339)
		if got := parseSeconds([]byte(text)); got != day.Unix() {
			t.Fatalf("%s: %d", text, got)
		}
	}
}
