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
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kir/mcmc"
)

// module is the path of the module, "kir" or what scripts/module-path made of it.
var module = path.Dir(reflect.TypeFor[mcmc.Space]().PkgPath())

// floors is the order of the house from the ground up: a package imports only packages of
// floors below its own. Packages that serve tests alone stand outside, and so do
// the examples.
var floors = [][]string{
	{"internal/portable", "internal/browsersched", "internal/pareto", "internal/assetstats", "rule"},
	{"internal/inputerr", "internal/constraint/count", "internal/ensemble", "internal/number", "internal/terminal", "examples/cocktails"},
	{"internal/diagnose", "internal/file", "internal/ensemble/onnx", "internal/ensemble/xgboost", "internal/ensemble/lightgbm", "internal/measure"},
	{"internal/constraint", "internal/constraint/linprog", "diagnostics", "model", "internal/tablefile", "internal/report/figure"},
	{"internal/dataset"},
	{"internal/constraint/volume", "internal/constraint/conflict", "internal/bound", "internal/dataset/sheet", "internal/report/pagestyle"},
	{"mcmc"},
	{"internal/importedmodel", "property", "internal/search", "internal/rounding", "internal/recipemap", "internal/config/yaml"},
	{"internal/config/schema", "internal/run"},
	{"internal/config"},
	{"internal/compile"},
	{"internal/campaign", "internal/config/change"},
	{"internal/report", "internal/run/bucket"},
	{"internal/report/assemble", "internal/report/view"},
	{"internal/paper", "internal/serve"},
	{"cmd/kir", "cmd/kirpage"},
}

// outside are the packages without a floor.
var outside = []string{"examples/", "internal/testonly/", "scripts"}

// A builtPackage is what go list says of a package.
type builtPackage struct {
	Dir, ImportPath, Name, Export string
	GoFiles, Imports              []string
}

// TestHouse checks the law of the layout: imports run one way, as floors has it.
func TestHouse(t *testing.T) {
	for _, p := range listPackages(t) {
		for _, fault := range againstOrder(p) {
			t.Error(fault)
		}
	}
}

// TestConfigIsPure checks that what a file says is decoded without a sampler, a model or a search: package config
// and what it imports know none.
func TestConfigIsPure(t *testing.T) {
	imports := make(map[string][]string)
	for _, p := range listPackages(t) {
		imports[p.ImportPath] = p.Imports
	}
	if len(imports[module+"/internal/config"]) == 0 {
		t.Fatal("there is no package config")
	}
	seen := make(map[string]bool)
	var visit func(path string)
	visit = func(path string) {
		if seen[path] {
			return
		}
		seen[path] = true
		for _, next := range imports[path] {
			visit(next)
		}
	}
	visit(module + "/internal/config")
	for _, name := range []string{"mcmc", "model", "property", "internal/search", "internal/run", "internal/compile"} {
		if seen[module+"/"+name] {
			t.Errorf("package config needs %s", name)
		}
	}
}

// TestHouseNotices shows that the checks of TestHouse find what they look for.
func TestHouseNotices(t *testing.T) {
	if got := againstOrder(builtPackage{ImportPath: module + "/model", Imports: []string{"fmt", module + "/internal/compile"}}); len(got) != 1 {
		t.Errorf("an import that runs up: %q", got)
	}
	if got := againstOrder(builtPackage{ImportPath: module + "/attic"}); len(got) != 1 {
		t.Errorf("a package without a floor: %q", got)
	}
	if got := againstOrder(builtPackage{ImportPath: module + "/mcmc", Imports: []string{module + "/internal/constraint/volume", module + "/internal/testonly/stattest"}}); len(got) != 1 {
		t.Errorf("what serves tests is imported: %q", got)
	}
}

// The most that a stranger has to look at: entries of the root, packages that programs can
// import, and names that these export (types, functions, variables and constants; methods
// and fields belong to their types).
const (
	mostEntries  = 26
	mostPackages = 8
	mostNames    = 270
)

// TestDoors checks how much stands in front, and that no type of internal/ shows in what
// programs can import: they could neither name nor make it.
func TestDoors(t *testing.T) {
	if entries := rootEntries(t); len(entries) > mostEntries {
		t.Errorf("the root has %d entries, at most %d: %s", len(entries), mostEntries, strings.Join(entries, " "))
	}
	packages := listPackages(t)
	imports := importer.ForCompiler(token.NewFileSet(), "gc", exportData(packages))
	var public []string
	names := 0
	for _, p := range packages {
		if !isPublic(p) {
			continue
		}
		of, err := imports.Import(p.ImportPath)
		if err != nil {
			t.Fatal(err)
		}
		exported := exportedOf(of)
		public, names = append(public, fmt.Sprintf("%s (%d)", p.ImportPath, len(exported))), names+len(exported)
		for _, fault := range shown(of) {
			t.Error(fault)
		}
	}
	said := strings.Join(public, ", ")
	t.Logf("%d packages export %d names: %s", len(public), names, said)
	if len(public) > mostPackages {
		t.Errorf("programs can import %d packages, at most %d: %s", len(public), mostPackages, said)
	}
	if names > mostNames {
		t.Errorf("packages export %d names together, at most %d: %s", names, mostNames, said)
	}
}

// TestDoorsNotice shows that shown finds internal types wherever they may stand, and no others.
func TestDoorsNotice(t *testing.T) {
	inner, err := checked(module+"/internal/hidden", "type T struct{}; func (T) Do() {}; type Of[E any] struct{ E E }", nil)
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]string{
		"func F(x hidden.T) {}":                                                    "F",
		"func F() (int, *hidden.T) { return 0, nil }":                              "F",
		"func F(f func([]map[string]chan hidden.T)) {}":                            "F",
		"func F(x ...hidden.Of[int]) {}":                                           "F",
		"func F[E interface{ ~[]hidden.T }](e E) {}":                               "F",
		"var V hidden.T":                                                           "V",
		"type A = hidden.T":                                                        "A",
		"type A []hidden.T":                                                        "A",
		"type S struct{ F hidden.T }":                                              "S.F",
		"type S struct{ hidden.T }":                                                "S.T",
		"type S struct{ inner }; type inner struct{ F hidden.T }":                  "S.F",
		"type I interface{ M(hidden.T) }":                                          "I.M",
		"type S struct{}; func (*S) M() hidden.T { panic(0) }":                     "S.M",
		"type S struct{ inner }; type inner struct{}; func (inner) M(hidden.T) {}": "S.M",
		"func F() inner { panic(0) }; type inner struct{ F hidden.T }":             "inner.F",
		"type S struct{ f hidden.T }; func (S) m(hidden.T) {}":                     "",
		"func f(hidden.T) {}; var v hidden.T; type a = hidden.T":                   "",
		"type I interface{ m(hidden.T) }; type S struct{ F []I; G *S }":            "",
	} {
		p, err := checked(module+"/a", body, inner)
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		got := shown(p)
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], "a."+want+" ")) {
			t.Errorf("%s: %q, not %q", body, got, want)
		}
	}
}

// rootEntries returns the files and folders of the root, without what is ignored.
func rootEntries(t *testing.T) []string {
	t.Helper()
	files, err := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Skip("not in a clone: ", err)
	}
	entries := make(map[string]bool)
	for _, file := range strings.Split(strings.TrimSpace(string(files)), "\n") {
		if _, err := os.Lstat(file); err == nil { // what is deleted is still known to git
			first, _, _ := strings.Cut(file, "/")
			entries[first] = true
		}
	}
	return slices.Sorted(maps.Keys(entries))
}

// isPublic says whether programs of others can import a package.
func isPublic(p builtPackage) bool {
	path, inside := within(p.ImportPath)
	return (inside || p.ImportPath == module) && p.Name != "main" && len(p.GoFiles) > 0 && !isInternal(path)
}

func isInternal(path string) bool { return strings.Contains("/"+path+"/", "/internal/") }

// exportedOf returns what a package exports.
func exportedOf(p *types.Package) []types.Object {
	var out []types.Object
	for _, name := range p.Scope().Names() {
		if o := p.Scope().Lookup(name); o.Exported() {
			out = append(out, o)
		}
	}
	return out
}

// shown returns where what a package exports has types of internal packages: in what is
// written of it, and in what it hands out.
func shown(p *types.Package) []string {
	s := surface{of: p, seen: make(map[*types.Named]bool)}
	for _, o := range exportedOf(p) {
		switch o := o.(type) {
		case *types.TypeName:
			if named, ok := o.Type().(*types.Named); ok {
				s.named(named)
			} else {
				s.walk(o.Name(), types.Unalias(o.Type()))
			}
		default:
			s.walk(o.Name(), o.Type())
		}
	}
	return s.faults
}

// A surface is what programs see of a package.
type surface struct {
	of     *types.Package
	seen   map[*types.Named]bool // types whose fields and methods were looked at
	faults []string
}

// named looks at the fields and methods of a type of the package.
func (s *surface) named(n *types.Named) {
	n = n.Origin()
	if s.seen[n] {
		return
	}
	s.seen[n] = true
	name := n.Obj().Name()
	for k := range n.TypeParams().Len() {
		s.walk(name, n.TypeParams().At(k).Constraint())
	}
	var reached types.Type = n
	if !types.IsInterface(n) {
		reached = types.NewPointer(n)
	}
	for m := range types.NewMethodSet(reached).Methods() {
		if o := m.Obj(); o.Exported() && o.Pkg() == s.of { // others are those of an embedded type
			s.walk(name+"."+o.Name(), o.Type())
		}
	}
	s.under(name, n.Underlying())
}

// under looks at what a type is made of.
func (s *surface) under(name string, t types.Type) {
	of, is := t.(*types.Struct)
	if !is {
		if !types.IsInterface(t) { // of those the methods were looked at
			s.walk(name, t)
		}
		return
	}
	for f := range of.Fields() {
		switch {
		case f.Exported():
			s.walk(name+"."+f.Name(), f.Type())
		case f.Embedded(): // its fields are this one's
			t := f.Type()
			if p, is := t.(*types.Pointer); is {
				t = p.Elem()
			}
			s.under(name, t.Underlying())
		}
	}
}

// walk looks at a type that shows at a place.
func (s *surface) walk(at string, t types.Type) {
	switch t := t.(type) {
	case *types.Alias:
		s.walk(at, types.Unalias(t))
	case *types.Named:
		for k := range t.TypeArgs().Len() {
			s.walk(at, t.TypeArgs().At(k))
		}
		switch p := t.Obj().Pkg(); {
		case p == nil:
		case p == s.of:
			s.named(t)
		case strings.HasPrefix(p.Path(), module+"/") && isInternal(p.Path()):
			s.faults = append(s.faults, fmt.Sprintf("%s.%s shows %s", s.of.Name(), at, t))
		}
	case *types.Pointer:
		s.walk(at, t.Elem())
	case *types.Slice:
		s.walk(at, t.Elem())
	case *types.Array:
		s.walk(at, t.Elem())
	case *types.Chan:
		s.walk(at, t.Elem())
	case *types.Map:
		s.walk(at, t.Key())
		s.walk(at, t.Elem())
	case *types.Tuple:
		for v := range t.Variables() {
			s.walk(at, v.Type())
		}
	case *types.Signature:
		for k := range t.TypeParams().Len() {
			s.walk(at, t.TypeParams().At(k).Constraint())
		}
		s.walk(at, t.Params())
		s.walk(at, t.Results())
	case *types.Struct:
		s.under(at, t)
	case *types.Union:
		for k := range t.Len() {
			s.walk(at, t.Term(k).Type())
		}
	case *types.Interface:
		for m := range t.Methods() {
			if m.Exported() {
				s.walk(at, m.Type())
			}
		}
		for e := range t.EmbeddedTypes() {
			s.walk(at, e)
		}
	}
}

// checked returns the package of a text, which may import another.
func checked(path, body string, imported *types.Package) (*types.Package, error) {
	text := "package " + path[strings.LastIndexByte(path, '/')+1:] + "\n"
	if imported != nil {
		text += fmt.Sprintf("import %q\n", imported.Path())
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "a.go", text+body, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	config := types.Config{Importer: imports{imported}}
	return config.Check(path, fset, []*ast.File{file}, nil)
}

// imports is an importer of one package.
type imports struct{ *types.Package }

func (i imports) Import(string) (*types.Package, error) { return i.Package, nil }

// within returns the path of a package within the module, and whether it is there.
func within(path string) (string, bool) { return strings.CutPrefix(path, module+"/") }

// floor returns the floor of a package of the module; −1 for none.
func floor(path string) int {
	return slices.IndexFunc(floors, func(f []string) bool { return slices.Contains(f, path) })
}

// isOutside says whether a package of the module serves tests alone, or is an example.
func isOutside(path string) bool {
	return slices.ContainsFunc(outside, func(o string) bool { return strings.HasPrefix(path+"/", strings.TrimSuffix(o, "/")+"/") })
}

// againstOrder returns what is wrong with a package's imports.
func againstOrder(p builtPackage) []string {
	own, inside := within(p.ImportPath)
	if !inside || isOutside(own) {
		return nil // the facade, which all may serve, or none of the floors
	}
	if floor(own) < 0 {
		return []string{fmt.Sprintf("%s has no place in floors", own)}
	}
	var faults []string
	for _, imported := range p.Imports {
		other, inside := within(imported)
		if inside && (floor(other) < 0 || floor(other) >= floor(own)) {
			faults = append(faults, fmt.Sprintf("%s imports %s, which is not below it", own, other))
		}
	}
	return faults
}

// listPackages returns all packages of the module and what they import, with files of export
// data.
func listPackages(t *testing.T) []builtPackage {
	t.Helper()
	command := exec.Command("go", "list", "-export", "-deps", "-json=Dir,ImportPath,Name,Export,GoFiles,Imports", "./...")
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

// exportData returns what opens the export data of packages.
func exportData(packages []builtPackage) func(path string) (io.ReadCloser, error) {
	files := make(map[string]string, len(packages))
	for _, p := range packages {
		files[p.ImportPath] = p.Export
	}
	return func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }
}
