package kir_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kir"
)

// maxCircle is how many files of a package may depend on each other in a
// circle.
const maxCircle = 3

// module is the path of the module, "kir" or what scripts/module-path made of it.
var module = reflect.TypeFor[kir.Space]().PkgPath()

// floors is the order of the house from the ground up: a package imports only
// packages of floors below its own. Packages under internal serve tests, and
// those under examples stand outside.
var floors = [][]string{
	{"kir/forest/ensemble"},
	{"kir/fault", "kir/forest", "kir/count", "kir/diagnose", "kir/run/zarr", "kir/report/number"},
	{"kir/rule", "kir/recipe", "kir/report/figure", "kir/report/terminal", "kir/report/sheet", "kir/forest/onnx", "kir/forest/xgboost", "kir/forest/lightgbm"},
	{"kir/measure"},
	{module},
	{"kir/property", "kir/search", "kir/problem/yaml", "kir/weigh"},
	{"kir/problem/schema", "kir/problem/change", "kir/run"},
	{"kir/problem"},
	{"kir/report", "kir/run/bucket"},
	{"kir/report/build", "kir/report/view"},
	{"kir/paper", "kir/serve"},
	{"kir/cmd/kir"},
}

// A builtPackage is what go list tells of a package.
type builtPackage struct {
	Dir, ImportPath, Export string
	GoFiles, Imports        []string
	Standard                bool
}

// TestHouse checks the two laws of the layout: imports run one way, as floors
// has it, and within a package no more than maxCircle files depend on each
// other in a circle. A file depends on another one of its package if it uses a
// constant, variable, function, type, method or field that is declared there.
func TestHouse(t *testing.T) {
	packages := listPackages(t)
	exports := make(map[string]string, len(packages))
	for _, p := range packages {
		exports[p.ImportPath] = p.Export
	}
	for _, p := range packages {
		if p.Standard || !inModule(p.ImportPath) {
			continue
		}
		for _, fault := range againstOrder(p, floors) {
			t.Error(fault)
		}
		files, err := fileDependencies(p, exports)
		if err != nil {
			t.Fatal(err)
		}
		for _, circle := range circles(files) {
			if len(circle) > maxCircle {
				t.Errorf("%s: %d of %d files depend on each other in a circle: %s", p.ImportPath, len(circle), len(p.GoFiles), strings.Join(circle, " "))
			}
		}
	}
}

// TestHouseNotices shows that the checks of TestHouse find what they look for.
func TestHouseNotices(t *testing.T) {
	if got := againstOrder(builtPackage{ImportPath: "kir/forest", Imports: []string{"kir/problem"}}, floors); len(got) != 1 {
		t.Errorf("an import that runs up: %q", got)
	}
	if got := againstOrder(builtPackage{ImportPath: "kir/attic"}, floors); len(got) != 1 {
		t.Errorf("a package without a floor: %q", got)
	}
	circle := map[string]map[string]bool{
		"a.go": {"b.go": true}, "b.go": {"c.go": true}, "c.go": {"d.go": true}, "d.go": {"a.go": true}, "e.go": {"a.go": true},
	}
	if got := circles(circle); len(got) != 1 || len(got[0]) != 4 {
		t.Errorf("a circle of four files: %v", got)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.go": "package a\n\ntype T struct{ f int }\n",
		"b.go": "package a\n\nfunc (t *T) m() int { return t.f }\n",
		"c.go": "package a\n\nfunc c(t *T) int { return t.m() }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	files, err := fileDependencies(builtPackage{Dir: dir, ImportPath: "a", GoFiles: []string{"a.go", "b.go", "c.go"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(files["a.go"]) != 0 || !maps.Equal(files["b.go"], map[string]bool{"a.go": true}) || !maps.Equal(files["c.go"], map[string]bool{"a.go": true, "b.go": true}) {
		t.Errorf("who depends on whom: %v", files)
	}
}

// inModule says whether a package is of this module.
func inModule(path string) bool { return path == module || strings.HasPrefix(path, module+"/") }

// listPackages returns all packages of the module and what they import, with
// files of export data.
func listPackages(t *testing.T) []builtPackage {
	t.Helper()
	command := exec.Command("go", "list", "-export", "-deps", "-json=Dir,ImportPath,Export,GoFiles,Imports,Standard", "./...")
	var failure bytes.Buffer
	command.Stderr = &failure
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, failure.String())
	}
	var packages []builtPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p builtPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

// againstOrder returns what is wrong with a package's imports.
func againstOrder(p builtPackage, floors [][]string) []string {
	floor := func(path string) int {
		return slices.IndexFunc(floors, func(f []string) bool { return slices.Contains(f, path) })
	}
	if strings.HasPrefix(p.ImportPath, "kir/internal/") || strings.HasPrefix(p.ImportPath, "kir/examples/") || strings.HasPrefix(p.ImportPath, "kir/bench") {
		return nil
	}
	own := floor(p.ImportPath)
	if own < 0 {
		return []string{fmt.Sprintf("%s has no place in floors", p.ImportPath)}
	}
	var faults []string
	for _, imported := range p.Imports {
		if inModule(imported) && floor(imported) >= own {
			faults = append(faults, fmt.Sprintf("%s imports %s, which is not below it", p.ImportPath, imported))
		}
	}
	return faults
}

// fileDependencies returns for each file of a package the other ones whose
// declarations it uses.
func fileDependencies(p builtPackage, exports map[string]string) (map[string]map[string]bool, error) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})}
	info := &types.Info{Uses: make(map[*ast.Ident]types.Object), Selections: make(map[*ast.SelectorExpr]*types.Selection)}
	own, err := config.Check(p.ImportPath, fset, files, info)
	if err != nil {
		return nil, err
	}
	depends := make(map[string]map[string]bool)
	for _, name := range p.GoFiles {
		depends[name] = make(map[string]bool)
	}
	for ident, object := range info.Uses {
		if object.Pkg() != own || !visible(own, object) {
			continue
		}
		from, to := filepath.Base(fset.Position(ident.Pos()).Filename), filepath.Base(fset.Position(object.Pos()).Filename)
		if from != to {
			depends[from][to] = true
		}
	}
	return depends, nil
}

// visible says whether an object can be used from other files: it is declared
// at the top of the package, or is a field or method.
func visible(p *types.Package, object types.Object) bool {
	switch o := object.(type) {
	case *types.Var:
		return o.IsField() || o.Parent() == p.Scope()
	case *types.Func:
		return true
	default:
		return o.Parent() == p.Scope()
	}
}

// circles returns the strongly connected components of more than one file, by
// Tarjan's algorithm, each in alphabetical order.
func circles(depends map[string]map[string]bool) [][]string {
	index, low := make(map[string]int), make(map[string]int)
	onStack := make(map[string]bool)
	var stack []string
	var found [][]string
	var visit func(string)
	visit = func(file string) {
		index[file] = len(index) + 1
		low[file] = index[file]
		stack, onStack[file] = append(stack, file), true
		for next := range depends[file] {
			switch {
			case index[next] == 0:
				visit(next)
				low[file] = min(low[file], low[next])
			case onStack[next]:
				low[file] = min(low[file], index[next])
			}
		}
		if low[file] != index[file] {
			return
		}
		at := slices.Index(stack, file)
		circle := slices.Sorted(slices.Values(stack[at:]))
		stack = stack[:at]
		for _, f := range circle {
			onStack[f] = false
		}
		if len(circle) > 1 {
			found = append(found, circle)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(depends)) {
		if index[file] == 0 {
			visit(file)
		}
	}
	return found
}
