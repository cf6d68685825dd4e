package kir_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	{"internal/portable"},
	{"internal/fault", "internal/count", "internal/diagnose", "internal/ensemble", "internal/report/number", "internal/terminal", "examples/cocktails"},
	{"internal/file", "internal/ensemble/onnx", "internal/ensemble/xgboost", "internal/ensemble/lightgbm"},
	{"model", "rule", "internal/book", "internal/report/figure", "internal/report/sheet", "internal/run/zarr"},
	{"internal/measure"},
	{"mcmc"},
	{"property", "internal/search", "internal/weigh", "internal/problem/yaml"},
	{"internal/problem/schema", "internal/problem/change", "internal/run"},
	{"internal/problem"},
	{"internal/report", "internal/run/bucket"},
	{"internal/report/build", "internal/report/view"},
	{"internal/paper", "internal/serve"},
	{"cmd/kir"},
}

// outside are the packages without a floor.
var outside = []string{"examples/", "internal/golden", "internal/long", "internal/stattest", "internal/worth"}

// A builtPackage is what go list says of a package.
type builtPackage struct {
	Dir, ImportPath, Export string
	GoFiles, Imports        []string
}

// TestHouse checks the law of the layout: imports run one way, as floors has it.
func TestHouse(t *testing.T) {
	for _, p := range listPackages(t) {
		for _, fault := range againstOrder(p) {
			t.Error(fault)
		}
	}
}

// TestHouseNotices shows that the checks of TestHouse find what they look for.
func TestHouseNotices(t *testing.T) {
	if got := againstOrder(builtPackage{ImportPath: module + "/model", Imports: []string{"fmt", module + "/internal/problem"}}); len(got) != 1 {
		t.Errorf("an import that runs up: %q", got)
	}
	if got := againstOrder(builtPackage{ImportPath: module + "/attic"}); len(got) != 1 {
		t.Errorf("a package without a floor: %q", got)
	}
	if got := againstOrder(builtPackage{ImportPath: module + "/mcmc", Imports: []string{module + "/internal/measure", module + "/internal/stattest"}}); len(got) != 1 {
		t.Errorf("what serves tests is imported: %q", got)
	}
}

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
	command := exec.Command("go", "list", "-export", "-deps", "-json=Dir,ImportPath,Export,GoFiles,Imports", "./...")
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
