package transport

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
)

// TestAcceptWithDrop checks where the parameter is added.
func TestAcceptWithDrop(t *testing.T) {
	const drop = ";drop=metadata.managedFields"
	for value, want := range map[string]string{
		"":                 "",
		" ":                " ",
		",":                ",",
		"application/json": "application/json" + drop,
		"*/*":              "*/*" + drop,
		// What client-go's clients send.
		"application/json, */*": "application/json" + drop + ", */*" + drop,
		"application/vnd.kubernetes.protobuf,application/json": "application/vnd.kubernetes.protobuf" + drop +
			",application/json" + drop,
		"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json": "application/json;" +
			"as=PartialObjectMetadataList;g=meta.k8s.io;v=v1" + drop + ",application/json" + drop,
		"application/json;stream=watch": "application/json;stream=watch" + drop,
		// With q.
		"application/json;q=0.9, */*;q=0.8": "application/json" + drop + ";q=0.9, */*" + drop + ";q=0.8",
		"a/b; as=Table ; q=1;ext=2":         "a/b; as=Table " + drop + "; q=1;ext=2",
		"a/b;Q=0.5":                         "a/b" + drop + ";Q=0.5",
		"a/b ;q = 0.5 , c/d":                "a/b " + drop + ";q = 0.5 , c/d" + drop,
		"a/b;q=0.5;q=0.4":                   "a/b" + drop + ";q=0.5;q=0.4",
		"a/b;quality=1":                     "a/b;quality=1" + drop,
		"a/b;q":                             "a/b" + drop + ";q",
		" a/b \t, c/d ":                     " a/b" + drop + " \t, c/d" + drop + " ",
		"a/b;":                              "a/b;" + drop,
		"a/b,,c/d":                          "a/b" + drop + ",,c/d" + drop,
		`a/b;x="1,2;q=3"`:                   `a/b;x="1,2;q=3"` + drop,
		`a/b;x="\",\\";q=1,c/d`:             `a/b;x="\",\\"` + drop + `;q=1,c/d` + drop,
		`a/b;x="q=1";q=0.5`:                 `a/b;x="q=1"` + drop + ";q=0.5",
		`a/b;x="never ends,c/d`:             `a/b;x="never ends,c/d`,
		`a/b;x="ends in \"`:                 `a/b;x="ends in \"`,
		"a/b" + drop:                        "a/b" + drop,
		"a/b" + drop + ";q=0.5, c/d":        "a/b" + drop + ";q=0.5, c/d" + drop,
		"a/b;drop=,c/d;DROP=spec;q=1,e/f; drop = a.b": "a/b;drop=,c/d;DROP=spec;q=1,e/f; drop = a.b",
		";q=1": ";q=1",
	} {
		if got := acceptWithDrop(value); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

// TestWithDrop checks that the header of the request isn't changed, and that one without media types isn't
// copied.
func TestWithDrop(t *testing.T) {
	header := http.Header{"Accept": {"application/json;q=1", "*/*"}, "User-Agent": {"test"}}
	want := http.Header{"User-Agent": {"test"}, "Accept": {
		"application/json;drop=metadata.managedFields;q=1", "*/*;drop=metadata.managedFields"}}
	before := header.Clone()
	if got, ok := withDrop(header); !ok || !reflect.DeepEqual(got, want) || !reflect.DeepEqual(header, before) {
		t.Errorf("%v, %v; then the header is %v", got, ok, header)
	}
	for _, header := range []http.Header{
		nil, {}, {"Accept": nil}, {"Accept": {"", " , "}}, {"User-Agent": {"a/b"}},
	} {
		before := header.Clone()
		if got, ok := withDrop(header); ok || !reflect.DeepEqual(got, before) {
			t.Errorf("%v: %v, %v", before, got, ok)
		}
	}
}

// FuzzAcceptWithDrop checks that the parameter is all that is added, that a second time adds nothing, and
// that a media type without strings, q and drop has it at its end.
func FuzzAcceptWithDrop(f *testing.F) {
	for _, seed := range []string{
		"", "application/json, */*;q=0.8", `a/b;x="1,2;q=3";q=1`, `a/b;x="\"`, "a/b;drop=", "a/b; c=d ",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		got := acceptWithDrop(value)
		if removed(got) != removed(value) {
			t.Errorf("%q: %q differs by more than the parameter", value, got)
		}
		if again := acceptWithDrop(got); again != got {
			t.Errorf("%q: %q, then %q", value, got, again)
		}
		mediaType, _, _ := strings.Cut(value, ";")
		if strings.ContainsAny(value, `",qQdD`) || strings.Trim(mediaType, blank) == "" {
			return
		}
		if !strings.HasSuffix(strings.TrimRight(got, blank), dropParameter) {
			t.Errorf("%q: %q has no parameter at its end", value, got)
		}
	})
}

func removed(value string) string { return strings.ReplaceAll(value, dropParameter, "") }
