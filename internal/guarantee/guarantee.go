// Package guarantee names what informers, queues, waits for own writes and ranges guarantee. A planted bug
// says which guarantee it breaks. docs/reliability.md has the comments of the constants as a table.
package guarantee

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"

	_ "embed"
)

// Guarantee is one of the constants.
type Guarantee string

// Of informers.
const (
	// Once a version is committed, the cache shows exactly the server's collection at that version, and
	// handlers are told of each change that leads there.
	Complete Guarantee = "complete"
	// Handlers are told of the changes of an object in the order of its versions.
	Ordered Guarantee = "ordered per object"
	// No handler is told of a change twice.
	Unique Guarantee = "unique"
	// The version of the cache never goes back.
	NoTimeTravel Guarantee = "no time travel"
	// A watch that ends goes on from where it was, without a list, while the server has the history.
	Resumable Guarantee = "resumable"
	// After a fault the cache is what the server has, within the bound of the fault.
	Converging Guarantee = "converging"
	// Within that bound, Status.LastError has the fault, if the server broke its contract.
	Told Guarantee = "told"
	// Who says that it has synced has delivered the initial list.
	SyncedMeansDelivered Guarantee = "synced means delivered"
	// An index finds what a scan of the cache finds.
	IndexEqualsScan Guarantee = "index equals scan"
	// A slow handler delays nobody else.
	Isolated Guarantee = "isolated"
	// Memory is bounded by what there is, whatever there was.
	BoundedMemory Guarantee = "bounded memory"
	// During a fault and after it, the requests a second are bounded.
	BoundedLoad Guarantee = "bounded load"
	// What is stopped or removed ends at once, and leaves nothing that runs or is called.
	NoLeak Guarantee = "no leak"
	// All methods are safe for concurrent use, where nothing else is said.
	NoRace Guarantee = "no race"
)

// Of queues.
const (
	// An item that was added is handed out, shutdown or not, and whoever waits is woken.
	NoneLost Guarantee = "none lost"
	// An item is in process once at a time.
	NoneTwiceAtOnce Guarantee = "none twice at once"
	// An item that is added while it is in process is handed out again after Done.
	NewestAfterDone Guarantee = "newest state after Done"
	// A delayed item isn't handed out before its time.
	NotBeforeItsTime Guarantee = "not before its time"
	// The item of the highest priority is handed out first, its age considered.
	OrderOfPriorities Guarantee = "order of priorities"
	// An item that fails is retried, however often.
	RetriedInTheEnd Guarantee = "retried in the end"
)

// Of waits for own writes.
const (
	// After the wait, reads show each recorded write or a later state.
	OwnWritesShown Guarantee = "own writes shown"
)

// Of ranges.
const (
	// No object has two owners at a time.
	OneOwner Guarantee = "one owner"
	// No object is without an owner for longer than the bound.
	NoneUnowned Guarantee = "none unowned"
)

// Named returns the guarantee that the first line of a failure names, as in "complete: the store is empty",
// or "" if it names none.
func Named(line string) Guarantee {
	name, _, _ := strings.Cut(line, ": ")
	for _, row := range Table() {
		if row.Guarantee == Guarantee(name) {
			return row.Guarantee
		}
	}
	return ""
}

//go:embed guarantee.go
var source string

// Row is a guarantee with its description.
type Row struct {
	// Name is that of the constant.
	Name      string
	Guarantee Guarantee
	Means     string
}

// Table returns all guarantees, as this file documents them.
func Table() (rows []Row) {
	file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.ParseComments)
	if err != nil {
		panic(err)
	}
	for _, decl := range file.Decls {
		block, ok := decl.(*ast.GenDecl)
		if !ok || block.Tok != token.CONST {
			continue
		}
		for _, spec := range block.Specs {
			constant := spec.(*ast.ValueSpec)
			value, _ := strconv.Unquote(constant.Values[0].(*ast.BasicLit).Value)
			means := strings.Join(strings.Fields(constant.Doc.Text()), " ")
			rows = append(rows, Row{constant.Names[0].Name, Guarantee(value), means})
		}
	}
	return rows
}
