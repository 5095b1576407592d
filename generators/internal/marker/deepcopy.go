package marker

import (
	"cmp"
	"go/token"
	"slices"
	"strings"
)

// The tags of deepcopy-gen, and those of controller-gen with the same meaning.
const (
	copyTag           = "k8s:deepcopy-gen"
	copyInterfacesTag = copyTag + ":interfaces"
	copyByValueTag    = copyTag + ":nonpointer-interfaces"
	objectCopyTag     = "kubebuilder:object:generate"
	objectRootTag     = "kubebuilder:object:root"
)

// Copies is the meaning of the deepcopy tags of one type, or of a package.
type Copies struct {
	// Given is true if there is one of the tags, whatever it says.
	Given bool
	// Value is the value of +k8s:deepcopy-gen, without its arguments: "true" or "false" for a
	// type, "package" or "false" for a package, "" without the tag. Pos is its position.
	Value string
	Pos   token.Position
	// Interfaces are those of +k8s:deepcopy-gen:interfaces, in order.
	Interfaces []CopyInterface
	// ByValue is true if the methods of the interfaces have the type itself as receiver.
	ByValue bool
	// Generate and Root are the values of +kubebuilder:object:generate and
	// +kubebuilder:object:root, "" without them. KubebuilderPos is the position of one of them.
	Generate, Root string
	KubebuilderPos token.Position
}

// CopyInterface is an interface that a type is to have a DeepCopy method for: an import path
// and a name, "k8s.io/apimachinery/pkg/runtime.Object".
type CopyInterface struct {
	Path, Name string
	Pos        token.Position
}

// ParseCopies parses the deepcopy tags of a type, or those of doc.go if ofPackage is true. If
// strict, it also parses those of controller-gen. Tags that upstream refuses are errors for every
// command; unknown tags that begin like its own, which it ignores, are errors if strict and warnings
// otherwise, and so are [HelperTypos].
func ParseCopies(tags []Tag, ofPackage, strict bool) (Copies, Problems) {
	known := []string{copyTag, copyInterfacesTag, copyByValueTag}
	p := tagParser{Reporter{strict, HelperTypos(tags, strict, known...)}}
	var c Copies
	byValue := "" // the value of the first such tag
	for _, tag := range tags {
		name := strings.TrimSuffix(codetag(tag.Text), ":") // kubebuilder's +name:=value
		if !strings.HasPrefix(name, copyTag) &&
			(!strict || name != objectCopyTag && name != objectRootTag) {
			continue
		}
		c.Given = true
		value, ok := p.codetagValue(tag, name)
		if !ok {
			continue
		}
		switch name {
		case copyTag:
			p.copyValue(&c, tag, value, ofPackage)
		case copyInterfacesTag:
			p.copyInterfaces(&c, tag)
		case copyByValueTag:
			if byValue != "" && (byValue == "true") != (value == "true") {
				p.Errorf(tag.Pos, "+%s is both %s and %q; remove one", name, byValue, value)
			}
			byValue = cmp.Or(byValue, value, "false")
			c.ByValue = byValue == "true"
		case copyTag + ":false", copyTag + ":true":
			value := strings.TrimPrefix(name, copyTag+":")
			p.Warnf(tag.Pos, "+%s has no effect; write +%s=%s", name, copyTag, value)
		case objectCopyTag, objectRootTag:
			p.kubebuilder(&c, tag, name, value)
		default:
			// Upstream ignores it. The type then lacks the methods that the tag was meant for.
			p.StrictErrorf(tag.Pos, UnknownTag, name, Suggest(name, known))
		}
	}
	return c, p.Problems
}

// copyValue parses the value of +k8s:deepcopy-gen. Its only argument, register, has no effect
// any more.
func (p *tagParser) copyValue(c *Copies, tag Tag, text string, ofPackage bool) {
	value, arguments, _ := strings.Cut(text, ",")
	for argument := range strings.SplitSeq(arguments, ",") {
		if name, _, _ := strings.Cut(argument, "="); argument != "" && name != "register" {
			p.Errorf(tag.Pos, "+%s has no argument %q; remove it", copyTag, name)
		}
	}
	known := []string{"true", "false"}
	if ofPackage {
		known = []string{"package", "false"}
	}
	switch {
	case !slices.Contains(known, value):
		p.Errorf(tag.Pos, "+%s takes %s here, not %q", copyTag, strings.Join(known, " or "), value)
	// Upstream accepts false twice for a package.
	case c.Value != "" && !(ofPackage && c.Value == "false" && value == "false"):
		p.Errorf(tag.Pos, "+%s is given twice; remove one", copyTag)
	default:
		c.Value, c.Pos = value, tag.Pos
	}
}

// copyInterfaces adds the interfaces of a tag.
func (p *tagParser) copyInterfaces(c *Copies, tag Tag) {
	offset := 0
	for name := range strings.SplitSeq(tag.Value, ",") {
		pos := tag.ValueAt(offset)
		offset += len(name) + 1
		dot := strings.LastIndex(name, ".")
		switch {
		case name == "":
		case dot < 0:
			p.Errorf(pos, "+%s takes an import path and a name, as in "+
				"k8s.io/apimachinery/pkg/runtime.Object, not %q", copyInterfacesTag, name)
		default:
			c.Interfaces = append(c.Interfaces, CopyInterface{name[:dot], name[dot+1:], pos})
		}
	}
}

// kubebuilder parses a tag of controller-gen, for which "+name" means true. The last one counts.
func (p *tagParser) kubebuilder(c *Copies, tag Tag, name, value string) {
	if value == "" {
		value = "true"
	}
	if value != "true" && value != "false" {
		p.Errorf(tag.Pos, "+%s takes true or false, not %q", name, value)
		return
	}
	c.KubebuilderPos = tag.Pos
	if name == objectRootTag {
		c.Root = value
	} else {
		c.Generate = value
	}
}
