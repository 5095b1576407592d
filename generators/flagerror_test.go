package generators

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestForeignFlags checks that kubewright has each flag of the compatible commands and of
// kube_codegen.sh, or advice in place of it, and that no advice names a flag that doesn't
// exist.
func TestForeignFlags(t *testing.T) {
	fs := pflag.NewFlagSet("kubewright", pflag.ContinueOnError)
	new(Layout).AddFlags(fs)
	advise := func(name string) string {
		t.Helper()
		if fs.Lookup(name) != nil {
			return ""
		}
		err := fs.Parse([]string{"--" + name + "=x"})
		said := FlagError(fs, err).Error()
		if said == err.Error() {
			t.Errorf("%s: no advice", said)
		}
		return said
	}
	for _, tool := range []*Tool{
		NewClientGen(), NewListerGen(), NewInformerGen(), NewApplyConfigurationGen(), NewDeepCopyGen(),
		NewRegisterGen(), NewDefaulterGen(),
	} {
		logging := newTool(tool.name).flags
		tool.flags.VisitAll(func(f *pflag.Flag) {
			if logging.Lookup(f.Name) == nil {
				advise(f.Name)
			}
		})
	}

	doc, err := os.ReadFile("../docs/migration.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `--([a-z-]+)[^|]*\\|(.*)\\|$").FindAllStringSubmatch(string(doc), -1)
	if len(rows) < 10 {
		t.Fatalf("migration.md has only %d flags", len(rows))
	}
	for _, row := range rows {
		said := advise(row[1])
		// The page and the advice name the same flag.
		if flag := flagInText.FindString(strings.TrimPrefix(said, "unknown flag: --"+row[1])); !strings.Contains(
			row[2], flag) {
			t.Errorf("%s; migration.md:%s", said, row[2])
		}
	}
	for _, f := range foreignFlags {
		if said := advise(f.name); !hasFlags(fs, f.advice) && strings.Contains(said, f.advice) {
			t.Errorf("%s, which doesn't exist", said)
		}
	}
}
