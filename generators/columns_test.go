package generators_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestColumns checks that lines of generated code have at most 110 characters, as those of this repository,
// if kinds and groups have names of usual lengths: 20 characters, and 10.
func TestColumns(t *testing.T) {
	t.Parallel()
	for _, registered := range []string{"", "var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, " +
		"Version: \"v1\"}\n\nfunc Resource(r string) schema.GroupResource {\n" +
		"\treturn SchemeGroupVersion.WithResource(r).GroupResource()\n}\n"} {
		dir := t.TempDir()
		types := filepath.Join(dir, "apis", "networking", "v1")
		err := os.MkdirAll(types, 0o755)
		for name, text := range map[string]string{
			"go.mod": "module example.com/acme\n\ngo 1.26\n",
			"apis/networking/v1/doc.go": "// +k8s:deepcopy-gen=package\n" +
				"// +groupName=networking.example.com\npackage v1\n",
			"apis/networking/v1/register.go": fmt.Sprintf(columnsRegister, registered),
			"apis/networking/v1/types.go": "package v1\n\n" +
				"import metav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n" +
				fmt.Sprintf(columnsKind, "CertificateAuthority", "", "CertificateIssuance") +
				fmt.Sprintf(columnsKind, "AuthorityCertificate", "// +genclient:nonNamespaced\n",
					"AuthorityAcceptance"),
		} {
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		generate := exec.Command(filepath.Join(buildCommands(t), "kubewright"), "generate", "--with-applyconfig",
			"--read-only-views", "--metadata-informers", "--prefers-protobuf", "./apis/...")
		generate.Dir = dir
		generate.Env = append(os.Environ(), "PWD="+dir, "GOWORK=off", "GOFLAGS=", "GOPROXY=off")
		if out, err := generate.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		checkColumns(t, filepath.Join(dir, "pkg", "client"))
	}
}

// longLine are lines that can't be broken: imports, aliases of types, fields with tags, and the schema.
var longLine = regexp.MustCompile(`^\t\w+ "[\w./-]+"$|^type \w+ = [\w.]+\[\*[\w.]+\]$|` +
	"`json:\"|^ +(- |map: )")

func checkColumns(t *testing.T, dir string) {
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		for i, line := range strings.Split(string(text), "\n") {
			if n := utf8.RuneCountInString(line); n > 110 && !longLine.MatchString(line) {
				t.Errorf("%s:%d has %d columns: %s", strings.TrimPrefix(path, dir), i+1, n, line)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 36 {
		t.Errorf("only %d files", files)
	}
}

const columnsRegister = `package v1

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const GroupName = "networking.example.com"

var groupVersion = schema.GroupVersion{}

%s
func AddToScheme(scheme *runtime.Scheme) error { return nil }
`

const columnsKind = `
// +genclient
%[2]s// +genclient:method=GetScale,verb=get,subresource=scale,result=%[1]s
// +genclient:method=ListScales,verb=list,subresource=scale,result=%[1]s
// +genclient:method=CreateScale,verb=create,subresource=scale,input=%[1]s,result=%[1]s
// +genclient:method=UpdateScale,verb=update,subresource=scale,input=%[1]s,result=%[1]s
// +genclient:method=ApplyScale,verb=apply,subresource=scale,input=%[1]s,result=%[1]s
// +genclient:method=GetOther,verb=get
// +genclient:method=ListOthers,verb=list
// +genclient:method=CreateOther,verb=create
// +genclient:method=UpdateOther,verb=update
// +genclient:method=ApplyOther,verb=apply
// +genclient:method=PatchOther,verb=patch
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// %[1]s is an API type.
type %[1]s struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `
	Spec              %[3]sA   ` + "`json:\"spec\"`" + `
	Status            %[3]sB ` + "`json:\"status\"`" + `
}

// %[3]sA is the part that users write.
type %[3]sA struct {
	TwentyCharactersLong string ` + "`json:\"twentyCharactersLong\"`" + `
	OtherTwentyCharacter []%[3]sB ` + "`json:\"otherTwentyCharacter\"`" + `
	MappedTwentyCharacte map[string]%[3]sB ` + "`json:\"mappedTwentyCharacte\"`" + `
	PointerTwentyCharact *%[3]sB ` + "`json:\"pointerTwentyCharact\"`" + `
	TwentyMoreCharacters []*%[3]sB ` + "`json:\"twentyMoreCharacters\"`" + `
	ConditionsCharacters *[]%[3]sB ` + "`json:\"conditionsCharacters\"`" + `
}

// %[3]sB is the part that controllers write.
type %[3]sB struct {
	TwentyCharactersLong string ` + "`json:\"twentyCharactersLong\"`" + `
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// %[1]sList is a list.
type %[1]sList struct {
	metav1.TypeMeta ` + "`json:\",inline\"`" + `
	metav1.ListMeta ` + "`json:\"metadata,omitempty\"`" + `
	Items           []%[1]s ` + "`json:\"items\"`" + `
}
`
