package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
)

// An edit is one small change of a file: at the byte Offset, Old becomes New.
type edit struct {
	File   string `json:"file"` // from the root of the module
	Line   int    `json:"line"`
	Offset int    `json:"offset"`
	Old    string `json:"old"`
	New    string `json:"new"`
}

// swaps are the operators that take each other's places.
var swaps = map[token.Token][]string{
	token.LSS: {"<=", ">="}, token.LEQ: {"<", ">"}, token.GTR: {">=", "<="}, token.GEQ: {">", "<"},
	token.EQL: {"!="}, token.NEQ: {"=="}, token.LAND: {"||"}, token.LOR: {"&&"},
	token.ADD: {"-"}, token.SUB: {"+"}, token.MUL: {"/"}, token.QUO: {"*"}, token.REM: {"/"},
	token.AND: {"|"}, token.OR: {"&"}, token.SHL: {">>"}, token.SHR: {"<<"}, token.AND_NOT: {"&"}, token.XOR: {"|"},
	token.ADD_ASSIGN: {"-="}, token.SUB_ASSIGN: {"+="}, token.MUL_ASSIGN: {"/="}, token.QUO_ASSIGN: {"*="},
	token.OR_ASSIGN: {"&="}, token.AND_ASSIGN: {"|="}, token.SHL_ASSIGN: {">>="}, token.SHR_ASSIGN: {"<<="},
	token.INC: {"--"}, token.DEC: {"++"}, token.BREAK: {"continue"}, token.CONTINUE: {"break"},
}

// words are names that take each other's places.
var words = map[string]string{"true": "false", "false": "true", "min": "max", "max": "min"}

// returned is what a result of a type is replaced by: a function of its text.
var returned = map[string]func(string) string{
	"bool":    func(e string) string { return "!(" + e + ")" },
	"int":     func(e string) string { return "(" + e + ")+1" },
	"float64": func(e string) string { return "(" + e + ")+1" },
	"string":  func(string) string { return `""` },
	"error":   func(string) string { return "nil" },
}

// edits returns every change that is made of a file: other operators and
// constants, statements and functions' bodies left out, conditions turned round,
// never and always, and other results. Some of them do not build.
func edits(name string, src []byte) ([]edit, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var all []edit
	change := func(from, to token.Pos, texts ...string) {
		p := fset.Position(from)
		old := string(src[p.Offset:fset.Position(to).Offset])
		for _, text := range texts {
			all = append(all, edit{File: name, Line: p.Line, Offset: p.Offset, Old: old, New: text})
		}
	}
	text := func(n ast.Node) string {
		return string(src[fset.Position(n.Pos()).Offset:fset.Position(n.End()).Offset])
	}
	operator := func(at token.Pos, op token.Token) {
		change(at, at+token.Pos(len(op.String())), swaps[op]...)
	}
	statements := func(list []ast.Stmt) {
		for _, s := range list {
			switch s := s.(type) {
			case *ast.ExprStmt, *ast.IncDecStmt, *ast.DeferStmt, *ast.SendStmt:
				change(s.Pos(), s.End(), "")
			case *ast.AssignStmt:
				if s.Tok != token.DEFINE {
					change(s.Pos(), s.End(), "")
				}
			}
		}
	}
	var stack []ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		stack = append(stack, n)
		switch n := n.(type) {
		case *ast.BinaryExpr:
			operator(n.OpPos, n.Op)
		case *ast.IncDecStmt:
			operator(n.TokPos, n.Tok)
		case *ast.BranchStmt:
			operator(n.TokPos, n.Tok)
		case *ast.AssignStmt:
			operator(n.TokPos, n.Tok)
		case *ast.UnaryExpr:
			if n.Op == token.NOT || n.Op == token.SUB {
				change(n.OpPos, n.OpPos+1, "")
			}
		case *ast.IfStmt:
			c := "(" + text(n.Cond) + ")"
			change(n.Cond.Pos(), n.Cond.End(), "false && "+c, "true || "+c)
			if b, is := n.Cond.(*ast.BinaryExpr); !is || swaps[b.Op] == nil {
				change(n.Cond.Pos(), n.Cond.End(), "!"+c)
			}
		case *ast.ForStmt:
			if n.Cond != nil {
				change(n.Cond.Pos(), n.Cond.End(), "false && ("+text(n.Cond)+")")
			}
		case *ast.BlockStmt:
			statements(n.List)
		case *ast.CaseClause:
			statements(n.Body)
		case *ast.CommClause:
			statements(n.Body)
		case *ast.FuncDecl:
			if n.Body != nil && n.Type.Results == nil && len(n.Body.List) > 0 {
				change(n.Body.Lbrace+1, n.Body.Lbrace+1, " return;")
			}
		case *ast.ReturnStmt:
			types := results(stack)
			for i, r := range n.Results {
				if len(types) != len(n.Results) {
					break
				}
				if other := returned[types[i]]; other != nil && words[text(r)] == "" && text(r) != "nil" && text(r) != `""` {
					change(r.Pos(), r.End(), other(text(r)))
				}
			}
		case *ast.Ident:
			if other := words[n.Name]; other != "" {
				change(n.Pos(), n.End(), other)
			}
		case *ast.BasicLit:
			switch n.Kind {
			case token.INT:
				change(n.Pos(), n.End(), "("+n.Value+"+1)", "("+n.Value+"-1)")
			case token.FLOAT:
				change(n.Pos(), n.End(), "("+n.Value+"*1.5)", "("+n.Value+"+1)")
			}
		}
		return true
	})
	return all, nil
}

// results returns the types of the results of the innermost function of a stack
// of nodes, each a name, or "" for others.
func results(stack []ast.Node) []string {
	var fields *ast.FieldList
	for _, n := range slices.Backward(stack) {
		if f, is := n.(*ast.FuncLit); is {
			fields = f.Type.Results
			break
		}
		if f, is := n.(*ast.FuncDecl); is {
			fields = f.Type.Results
			break
		}
	}
	if fields == nil {
		return nil
	}
	var types []string
	for _, f := range fields.List {
		name := ""
		if ident, is := f.Type.(*ast.Ident); is {
			name = ident.Name
		}
		for range max(1, len(f.Names)) {
			types = append(types, name)
		}
	}
	return types
}
