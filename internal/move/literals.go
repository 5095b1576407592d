package move

import (
	"go/ast"
	"go/token"
	"go/types"
)

// managerLiteral is a composite literal of manager.Options, or a variable without a value or a call of new in
// place of one.
type managerLiteral struct {
	file string
	line int
	// brace is the offset of its opening brace, 0 if it has none.
	brace int
	// has is the place of a NewCache in the literal or of an assignment to this field in the same function.
	has *token.Position
}

// managerLiterals returns the literals of manager.Options in the module's files.
func (g *program) managerLiterals(all *checked) (found []managerLiteral) {
	for _, pkg := range all.bodies {
		for _, file := range pkg.syntax {
			for _, decl := range file.Decls {
				found = append(found, managersIn(pkg, all.files, decl)...)
			}
		}
	}
	return found
}

// managersIn returns the literals in a declaration.
func managersIn(pkg *checkedPackage, files *token.FileSet, decl ast.Decl) (found []managerLiteral) {
	var assigned *token.Position
	ast.Inspect(decl, func(n ast.Node) bool {
		assign, ok := n.(*ast.AssignStmt)
		if !ok {
			return true
		}
		for _, left := range assign.Lhs {
			field, ok := left.(*ast.SelectorExpr)
			if ok && field.Sel.Name == optionField && isManagerOptions(pkg.info.Types[field.X].Type) {
				at := files.PositionFor(field.Pos(), false)
				assigned = &at
			}
		}
		return true
	})
	var zero []managerLiteral
	var parents []ast.Node
	ast.Inspect(decl, func(n ast.Node) bool {
		if n == nil {
			parents = parents[:len(parents)-1]
			return true
		}
		parents = append(parents, n)
		if isZeroManager(pkg.info, n) {
			at := files.PositionFor(n.Pos(), false)
			zero = append(zero, managerLiteral{file: at.Filename, line: at.Line, has: assigned})
		}
		literal, ok := n.(*ast.CompositeLit)
		if !ok || !isManagerOptions(pkg.info.Types[literal].Type) || isNoManager(literal, parents) {
			return true
		}
		at := files.PositionFor(literal.Lbrace, false)
		l := managerLiteral{file: at.Filename, line: at.Line, brace: at.Offset, has: assigned}
		for _, e := range literal.Elts {
			if pair, ok := e.(*ast.KeyValueExpr); ok && isName(pair.Key, optionField) {
				at := files.PositionFor(pair.Pos(), false)
				l.has = &at
			}
		}
		found = append(found, l)
		return true
	})
	if len(found) == 0 { // else a variable gets the literal
		return zero
	}
	return found
}

// isZeroManager reports whether a node declares empty options of a manager, to be set field by field.
func isZeroManager(info *types.Info, n ast.Node) bool {
	var of ast.Expr
	switch n := n.(type) {
	case *ast.ValueSpec:
		if len(n.Values) == 0 {
			of = n.Type
		}
	case *ast.CallExpr:
		if info.Types[n.Fun].IsBuiltin() && len(n.Args) == 1 && info.Types[n.Args[0]].IsType() {
			of = n.Args[0]
		}
	}
	if of == nil {
		return false
	}
	_, isPointer := types.Unalias(info.Types[of].Type).(*types.Pointer)
	return !isPointer && isManagerOptions(info.Types[of].Type)
}

// isManagerOptions reports whether a type is manager.Options, or points to it.
func isManagerOptions(t types.Type) bool {
	if t == nil {
		return false
	}
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	name := named(t)
	return name != nil && name.Name() == "Options" && name.Pkg() != nil && name.Pkg().Path() == managers
}

// isNoManager reports whether a literal makes no manager: it is compared, or it is the empty result beside
// others, such as an error.
func isNoManager(literal *ast.CompositeLit, parents []ast.Node) bool {
	for i := len(parents) - 2; i >= 0; i-- {
		switch parent := parents[i].(type) {
		case *ast.ParenExpr, *ast.UnaryExpr:
			continue
		case *ast.BinaryExpr:
			return true
		case *ast.ReturnStmt:
			return len(literal.Elts) == 0 && len(parent.Results) > 1
		}
		return false
	}
	return false
}
