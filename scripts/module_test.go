package scripts

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"kir"
	"kir/internal/testonly/testmode"
)

// TestModulePath renames the module in a copy of the tree, where nothing imports the old
// name any more. Where tests run in full the root is vetted and tested by its new one, and
// in bench what reads problems is vetted. With KIR_MODULE all of both is vetted and tested, and a release is
// built and used; with KIR_MODULE=release that alone.
func TestModulePath(t *testing.T) {
	module := reflect.TypeFor[kir.Problem]().PkgPath() // "kir" or what the script made of it
	t.Chdir("..")
	files, err := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Skip("not in a clone: ", err)
	}
	dir := t.TempDir()
	for _, file := range strings.Fields(string(files)) {
		data, err := os.ReadFile(file)
		if os.IsNotExist(err) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		copied := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(copied), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(copied, data, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	do := func(name string, args ...string) string {
		t.Helper()
		command := exec.Command(name, args...)
		command.Dir = dir
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	told := "go install " + module + "/cmd/kir@latest\n    import \"" + module + "\"\n"
	if err := os.WriteFile(filepath.Join(dir, "told.md"), []byte(told), 0o666); err != nil {
		t.Fatal(err)
	}
	const path = "example.org/lab/kir"
	do("bash", "scripts/module-path", path)
	bench := exec.Command("go", imported("bench")...) // beside the root's
	var benchOut, benchErr bytes.Buffer
	bench.Dir, bench.Stdout, bench.Stderr = dir, &benchOut, &benchErr
	if err := bench.Start(); err != nil {
		t.Fatal(err)
	}
	ofRoot := do("go", imported(".")...)
	if err := bench.Wait(); err != nil {
		t.Fatalf("go %v: %v\n%s", imported("bench"), err, &benchErr)
	}
	for dir, list := range map[string]string{".": ofRoot, "bench": benchOut.String()} {
		if !strings.Contains(list, path+"/") {
			t.Errorf("in %s nothing is imported by the new name", dir)
		}
		for _, p := range strings.Fields(list) {
			if p == module || strings.HasPrefix(p, module+"/") {
				t.Errorf("%s is still imported in %s", p, dir)
			}
		}
	}
	if told, want := do("cat", "told.md"), "go install "+path+"/cmd/kir@latest\n    import \""+path+"\"\n"; told != want {
		t.Errorf("a document tells %q, want %q", told, want)
	}
	if os.Getenv("KIR_MODULE") == "" {
		if !testmode.Enabled() {
			return // it takes as long as to build the module
		}
		do("go", "vet", ".")
		do("go", "vet", "-C", "bench", "./randomproblem")
		do("go", "test", "-run", "TestHouseNotices", ".")
		do("go", "build", "-o", os.DevNull, "./cmd/kir")
		if _, err := exec.LookPath("goreleaser"); err == nil {
			commitAll(do, path)
			do("goreleaser", "check")
		}
		return
	}
	if os.Getenv("KIR_MODULE") != "release" {
		for _, dir := range []string{".", "bench"} {
			do("go", "vet", "-C", dir, "./...")
			do("go", "test", "-C", dir, "-timeout", "60m", "./...")
		}
	}
	commitAll(do, path)
	release := t.TempDir()
	t.Log(do("bash", ".ci/package", release))
	recipe, err := os.ReadFile(filepath.Join(release, "conda", "recipe.yaml"))
	if err != nil || !strings.Contains(string(recipe), "https://"+path+"/releases/download/") {
		t.Errorf("the recipe for conda does not name the home %s (%v): %s", path, err, recipe)
	}
	program := do("go", "version", "-m", filepath.Join(release, "kir_linux_amd64_v1", "kir"))
	if !strings.Contains(program, "\tpath\t"+path+"/cmd/kir\n") {
		t.Errorf("the program is not of %s: %s", path, program)
	}
}

// commitAll makes a repository of a copy, whose home is the path of its module.
func commitAll(do func(string, ...string) string, path string) {
	do("git", "init", "-q")
	do("git", "add", "-A")
	do("git", "-c", "user.name=kir", "-c", "user.email=kir@localhost", "commit", "-q", "-m", "a copy with another path")
	do("git", "remote", "add", "origin", "https://"+path)
}

// imported are the arguments of go that list all that a module and its tests import.
func imported(dir string) []string {
	return []string{"list", "-C", dir, "-test", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./..."}
}
