package model

import (
	"go/ast"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/gengo/v2/codetags"

	"github.com/kubewright/kubewright/generators/marker"
)

// The names that --lint-rules takes.
const (
	LintKnownTagsOnly       = "known-tags-only"
	LintExplicitDisablement = "require-explicit-disablement"
)

// LintRules are all rules there are.
var LintRules = []string{LintKnownTagsOnly, LintExplicitDisablement}

// knownTags are the tags that upstream's generators together know in doc.go.
var knownTags = []string{
	"k8s:applyconfiguration-gen", "k8s:client-gen", "k8s:conversion-gen", "k8s:conversion-gen-external-types",
	"k8s:deepcopy-gen", "k8s:defaulter-gen", "k8s:defaulter-gen-input", "k8s:informer-gen", "k8s:lister-gen",
	"k8s:openapi-gen", "k8s:openapi-model-package", "k8s:prerelease-lifecycle-gen", "k8s:protobuf-gen", "k8s:register-gen",
	"k8s:validation-gen", "k8s:validation-gen-input", "k8s:validation-gen-nolint", "k8s:validation-gen-scheme-registry",
	"k8s:validation-gen-test-fixture", "k8s:validation-gen-test-targets",
	"genclient", "genclient:nonNamespaced", "genclient:noVerbs", "genclient:onlyVerbs", "genclient:skipVerbs",
	"genclient:noStatus", "genclient:readonly", "genclient:method", "groupGoName",
}

// lint applies the rules that were asked for to a package.
func (l *loader) lint(p *candidate) {
	if len(l.cfg.LintRules) == 0 {
		return
	}
	var tags []marker.Tag
	for _, f := range p.src.files {
		if f.syntax != nil && f.isDoc() {
			tags = marker.ScanPackage(l.fset, f.syntax.Comments...)
		}
	}
	for _, rule := range l.cfg.LintRules {
		switch rule {
		case LintKnownTagsOnly:
			l.lintKnownTags(tags)
		case LintExplicitDisablement:
			l.lintDisablement(p, tags)
		default:
			l.fail(p.pkg.Pos, "unknown lint rule %q%s", rule, marker.Suggest(rule, LintRules))
		}
	}
}

// lintKnownTags reports +k8s:...-gen tags that no generator knows.
func (l *loader) lintKnownTags(tags []marker.Tag) {
	for _, tag := range tags {
		for name := range codetags.Extract("", []string{tag.Text}) {
			rest, ok := strings.CutPrefix(name, "k8s:")
			if !ok || !strings.Contains(rest, "-gen") {
				continue
			}
			base, _, _ := strings.Cut(rest, ":")
			if !slices.Contains(knownTags, "k8s:"+base) {
				l.fail(tag.Pos, "no generator knows the tag +%s%s", name, marker.Suggest(name, knownTags))
			}
		}
	}
}

// versionElement is what the last path element of a version looks like.
var versionElement = regexp.MustCompile(`^v\d+([a-z]+\d+)?$`)

// lintDisablement wants packages of a version to say yes or no to the
// generators that such packages usually have.
func (l *loader) lintDisablement(p *candidate, tags []marker.Tag) {
	has := map[string]bool{}
	api := false
	for _, tag := range tags {
		for name := range codetags.Extract("", []string{tag.Text}) {
			has[name] = true
			api = api || name == "groupName" || slices.Contains(knownTags, name)
		}
	}
	if !api || !versionElement.MatchString(path.Base(p.src.path)) {
		return
	}
	var expected []string
	switch {
	case p.src.hasVersionedTypes():
		expected = []string{"k8s:deepcopy-gen"}
	case has["k8s:defaulter-gen"] || has["k8s:defaulter-gen-input"] || has["k8s:validation-gen"] || has["k8s:validation-gen-input"]:
		expected = []string{"k8s:conversion-gen", "k8s:defaulter-gen", "k8s:validation-gen"}
	}
	for _, name := range expected {
		if !has[name] {
			l.fail(p.pkg.Pos, "package %s says neither yes nor no to a generator; write // +%s=false or a value in doc.go", p.src.path, name)
		}
	}
}

// hasVersionedTypes reports whether a type embeds TypeMeta with an inline json tag.
func (s *source) hasVersionedTypes() bool {
	for _, decl := range s.types {
		st, ok := decl.spec.Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, field := range st.Fields.List {
			if len(field.Names) > 0 || typeName(field.Type) != "TypeMeta" {
				continue
			}
			text, _ := strconv.Unquote(tagText(field))
			name, ok := reflect.StructTag(text).Lookup("json")
			if name, _, _ = strings.Cut(name, ","); ok && name == "" {
				return true
			}
		}
	}
	return false
}
