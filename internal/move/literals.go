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
	var parents []ast.Node
	ast.Inspect(decl, func(n ast.Node) bool {
		if n == nil {
			parents = parents[:len(parents)-1]
			return true
		}
		parents = append(parents, n)
		if isZeroManager(pkg.info, n) {
			at := files.PositionFor(n.Pos(), false)
			found = append(found, managerLiteral{file: at.Filename, line: at.Line, has: assigned})
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
	return found
}

// isZeroManager reports whether a node declares empty options of a manager, to be set field by field.
func isZeroManager(info *types.Info, n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ValueSpec:
		return n.Type != nil && len(n.Values) == 0 && isManagerOptions(info.Types[n.Type].Type)
	case *ast.CallExpr:
		return info.Types[n.Fun].IsBuiltin() && isManagerOptions(info.Types[n].Type)
	}
	return false
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
