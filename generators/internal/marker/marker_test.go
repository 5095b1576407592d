package marker

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/gengo/v2"
)

// commentsOf parses source and returns its comment groups.
func commentsOf(t testing.TB, source string) (*token.FileSet, []*ast.CommentGroup) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "x.go", source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return fset, file.Comments
}

// tagsOf returns the tags in comment lines.
func tagsOf(t testing.TB, lines ...string) []Tag {
	t.Helper()
	fset, groups := commentsOf(t, "package x\n\n// "+strings.Join(lines, "\n// ")+"\n")
	return ScanPackage(fset, groups...)
}

// at returns the rest of the line at a position, or "" outside of the source.
func at(source string, pos token.Position) string {
	lines := strings.Split(source, "\n")
	if pos.Line > len(lines) || pos.Column > len(lines[pos.Line-1]) {
		return ""
	}
	return lines[pos.Line-1][pos.Column-1:]
}

// TestScanPositions checks that every position is where its text is.
func TestScanPositions(t *testing.T) {
	source := "// +one\npackage x // +two=2\n\n/* +three\r\n\t +four=x,y\n+five*/ /*+six*/\n\n//\t+seven\n" +
		"//  +eight  \n\n// a +b\nvar x int\n"
	fset, groups := commentsOf(t, source)
	var names []string
	for _, tag := range append(Scan(fset, nil), ScanPackage(fset, groups...)...) {
		names = append(names, tag.Name)
		if !strings.HasPrefix(at(source, tag.Pos), "+"+tag.Text) {
			t.Errorf("%s: %v is at %q", tag.Name, tag.Pos, at(source, tag.Pos))
		}
		if pos := tag.ValueAt(0); tag.HasValue && !strings.HasPrefix(at(source, pos), tag.Value) {
			t.Errorf("%s: the value is not at %v", tag.Name, pos)
		}
	}
	if want := []string{
		"one", "two", "three", "four", "five", "six", "seven", "eight",
	}; !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
	if tags := Scan(fset,
		groups...); slices.ContainsFunc(tags,
		func(tag Tag) bool { return tag.Name == "seven" || tag.Name == "four" }) {
		t.Error("a tab before the plus sign hides a tag of a type")
	}
}

func TestParseClient(t *testing.T) {
	for _, c := range []struct {
		name   string
		lines  []string
		want   Client
		strict []string
		// lenient is true for errors in both modes.
		lenient bool
	}{
		{name: "none", lines: []string{"+k8s:deepcopy-gen=true", "plain words"}},
		{name: "all",
			lines: []string{"+genclient", "+genclient:nonNamespaced", "+genclient:noStatus",
				"+genclient:noVerbs", "+resourceName=x"},
			want: Client{Generate: true, NonNamespaced: true, NoStatus: true, NoVerbs: true,
				ResourceName: "x"}},
		{name: "skip", lines: []string{"+genclient", "+genclient:skipVerbs=get,list"},
			want: Client{Generate: true, Skipped: []string{"get", "list"}}},
		{name: "only",
			lines: []string{"+genclient",
				"+genclient:onlyVerbs=create,update,updateStatus,delete,deleteCollection,get,list"},
			want: Client{Generate: true, Skipped: []string{"watch", "patch", "apply", "applyStatus"}}},
		{name: "only wins over skip",
			lines: []string{"+genclient", "+genclient:skipVerbs=get",
				"+genclient:onlyVerbs=create,update,updateStatus,delete,deleteCollection,get,list," +
					"watch,patch"},
			want:   Client{Generate: true, Skipped: []string{"apply", "applyStatus"}},
			strict: []string{`verb "get" is in both`}},
		{name: "twice",
			lines: []string{"+genclient", "+genclient:skipVerbs=get", "+genclient:skipVerbs=list"},
			want:  Client{Generate: true, Skipped: []string{"get"}}, strict: []string{"given twice"}},
		{name: "false", lines: []string{"+genclient=false"}, want: Client{Generate: true},
			strict: []string{"+genclient=false is not allowed"}, lenient: true},
		{name: "empty value", lines: []string{"+genclient="}, want: Client{Generate: true}},
		{name: "unknown", lines: []string{"+genclient", "+genclient:skipVerb=get"},
			want: Client{Generate: true}, strict: []string{`did you mean "genclient:skipVerbs"?`},
			lenient: true},
		{name: "alone", lines: []string{"+genclient:noStatus", "+other"}, want: Client{NoStatus: true,
			Dead: tagsOf(t, "+genclient:noStatus")}},
	} {
		for _, strict := range []bool{true, false} {
			got, problems := ParseClient(tagsOf(t, c.lines...), strict)
			got.Pos = token.Position{}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
			}
			if len(problems) != len(c.strict) ||
				len(problems) > 0 && problems.Fatal() != (strict || c.lenient) {
				t.Errorf("%s, strict %v: got problems %v", c.name, strict, problems)
				continue
			}
			for i, p := range problems {
				if !strings.Contains(p.Message, c.strict[i]) {
					t.Errorf("%s: %q does not contain %q", c.name, p.Message, c.strict[i])
				}
			}
		}
	}
}

func TestParsePackage(t *testing.T) {
	pkg, problems := ParsePackage(
		tagsOf(t, "+groupName=", "+groupGoName=Core", "+k8s:client-gen=true", "+k8s:lister-gen=false",
			"+k8s:deepcopy-gen=package"), true)
	if len(problems) > 0 {
		t.Error(problems)
	}
	if !pkg.HasGroupName || pkg.GroupName != "" || pkg.GroupGoName != "Core" ||
		len(pkg.OptedOut) != 1 || !pkg.OptsOut("lister-gen") {
		t.Errorf("got %+v", pkg)
	}
	if pkg, _ := ParsePackage(nil, true); pkg.HasGroupName {
		t.Error("a package without a tag names no group")
	}
}

func TestSuggest(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"wacth", "watch"}, {"Watch", "watch"}, {"lst", "list"}, {"deletecollection", "deleteCollection"},
		{"x", ""}, {"frobnicate", ""}, {"", ""},
	} {
		got := Suggest(c.name, allVerbs)
		if want := c.want; want == "" && got != "" || want != "" && got != "; did you mean \""+want+"\"?" {
			t.Errorf("%q: got %q, want %q", c.name, got, want)
		}
	}
}

func TestProblemsSort(t *testing.T) {
	at := func(file string, line, column int) token.Position {
		return token.Position{Filename: file, Line: line, Column: column}
	}
	problems := Problems{{Pos: at("b", 1, 1), Message: "x"}, {Pos: at("a", 2, 1), Message: "x"},
		{Pos: at("a", 1, 2), Message: "y", Warning: true},
		{Pos: at("a", 1, 2), Message: "x"}, {Pos: at("b", 1, 1), Message: "x"}, {Message: "no place"},
		{Pos: token.Position{Filename: "f"}, Message: "file only"}}
	want := "no place\na:1:2: x\na:1:2: warning: y\na:2:1: x\nb:1:1: x\nf: file only"
	if got := problems.Sort().Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// FuzzScan checks that tags equal those that gengo reads from the same comment, and that the parsers accept
// any input without panicking.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		"+genclient\n+genclient:method=UpdateScale,verb=update,subresource=scale,input=Scale," +
			"result=k8s.io/api/autoscaling/v1.Scale",
		"+genclient:onlyVerbs=get,list\n+genclient:skipVerbs=get,", "  +x==y=\n\t+tab",
		"+groupName=foo.io // x\n+groupGoName()=Foo\n+k8s:client-gen=false", "+", "+=",
		"+genclient:method=,=,verb=,x", "+groupName(\"a\", b: 1)=`c`", "go:generate +x",
		"\u00a0+nbsp", "+é=ü",
		"+groupName=../../x\n+groupGoName=a`+\"b", "+groupName=x\x1b[31m\v+genclient",
		"*\u200b/\n//go:build x\n+x=*",
		"+genclient:method=A,verb=get,result=x\".B,subresource=../../b", "+resourceName=`\n+x=" +
			strings.Repeat("a=,", 1000), "+groupName(" + strings.Repeat("((", 1000),
	} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, text string, block bool) {
		if strings.Contains(strings.ReplaceAll(text, "\r\n", ""), "\r") {
			t.Skip("go/scanner drops carriage returns, and columns move")
		}
		source := "package x\n\n// " + strings.ReplaceAll(text, "\n", "\n// ") + "\n"
		if block {
			source = "package x\n\n/*" + text + "*/\n"
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "x.go", source, parser.ParseComments)
		if err != nil || len(file.Comments) != 1 {
			t.Skip("not one comment")
		}
		tags := Scan(fset, file.Comments...)
		got := map[string][]string{}
		for _, tag := range tags {
			got[tag.Name] = append(got[tag.Name], tag.Value)
			if !strings.HasPrefix(at(source, tag.Pos), "+"+tag.Text) {
				t.Errorf("tag %q is not at %v", tag.Text, tag.Pos)
			}
		}
		//lint:ignore SA1019 it is what upstream reads the tags of types with
		if want := gengo.ExtractCommentTags(
			"+", strings.Split(file.Comments[0].Text(), "\n"),
		); !reflect.DeepEqual(got, want) {
			t.Errorf("got %q, gengo has %q", got, want)
		}
		for _, strict := range []bool{true, false} {
			_, problems := ParseClient(tags, strict)
			_, more := ParsePackage(ScanPackage(fset, file.Comments...), strict)
			for _, p := range append(problems, more...) {
				if p.Message == "" || !p.Pos.IsValid() {
					t.Errorf("a problem without a place or a message: %+v", p)
				}
			}
		}
	})
}
