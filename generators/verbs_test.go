package generators_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestVerbSets generates clients and fakes of kinds that lack each set of the verbs below: their
// methods need type parameters, or depend on those of the others. The code has to compile.
func TestVerbSets(t *testing.T) {
	t.Parallel()
	bin, checker, dir := buildCommands(t), newTypeChecker(t), t.TempDir()
	verbs := []string{"list", "watch", "deleteCollection", "apply", "applyStatus"}
	p := apiPackage{folder: "shop", version: "v1", group: "shop"}
	for set := range 1 << len(verbs) {
		var skipped []string
		for i, verb := range verbs {
			if set&(1<<i) != 0 {
				skipped = append(skipped, verb)
			}
		}
		kind := apiKind{name: fmt.Sprintf("Kind%d", set)}
		if len(skipped) > 0 {
			kind.tags = []string{"+genclient:skipVerbs=" + strings.Join(skipped, ",")}
		}
		p.kinds = append(p.kinds, kind)
	}
	all := api{packages: []apiPackage{p}, flags: []string{"--with-applyconfig"}}
	writeFile(t, filepath.Join(dir, "go.mod"), "module "+module+"\n\ngo 1.26\n")
	all.write(t, dir)
	if out, err := all.generate(bin, dir); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := checker.check(module, dir); err != nil {
		t.Error(err)
	}
}
