// Package architectures compares what programs built for other processors store and print.
package architectures_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kir/bench/randomproblem"
)

// A machine is a kind of processor that the program is built for, and what runs it here.
type machine struct {
	name     string
	env      []string // of go build
	emulator []string // programs any of which will do; nil for none
	program  string
	by       []string // the emulator that was found
}

// otherMachines are those that TestArchitectures knows.
func otherMachines() []*machine {
	qemu := func(arch, name string) *machine {
		return &machine{name: arch, env: []string{"GOARCH=" + arch}, emulator: []string{"qemu-" + name + "-static", "qemu-" + name}}
	}
	all := []*machine{
		qemu("arm64", "aarch64"), qemu("s390x", "s390x"), qemu("ppc64le", "ppc64le"), qemu("riscv64", "riscv64"), qemu("loong64", "loongarch64"),
		{name: "js", env: []string{"GOOS=js", "GOARCH=wasm"}, emulator: []string{"node"}},
	}
	if runtime.GOARCH == "amd64" {
		return append(all, &machine{name: "amd64.v3", env: []string{"GOAMD64=v3"}})
	}
	return append(all, qemu("amd64", "x86_64"))
}

// TestArchitectures runs problems of all kinds with programs that were built for other
// machines, and compares what they store and print with what this one's does: draws byte
// for byte, summary.json but for its timings. Shards of several machines are merged, and
// compared with the run of one.
//
//	KIR_ARCHITECTURES='arm64 js amd64.v3' go test -C bench -v -timeout 2h -run TestArchitectures ./architectures
//
// It needs qemu-user-static, and node for js. "all" takes the machines that there is an
// emulator for. KIR_PROBLEMS random problems, 30 unless it is given, come on top of the
// examples, from KIR_SEED on.
func TestArchitectures(t *testing.T) {
	names := strings.Fields(os.Getenv("KIR_ARCHITECTURES"))
	if len(names) == 0 {
		t.Skip("KIR_ARCHITECTURES names no machines")
	}
	here := &machine{name: "this machine"}
	machines := []*machine{here}
	for _, m := range otherMachines() {
		at := slices.IndexFunc(m.emulator, func(name string) bool { _, err := exec.LookPath(name); return err == nil })
		switch named := slices.Contains(names, m.name); {
		case !named && !slices.Equal(names, []string{"all"}):
			continue
		case at < 0 && m.emulator != nil && named:
			t.Fatalf("there is no %s, which runs what is for %s", m.emulator[0], m.name)
		case at < 0 && m.emulator != nil:
			t.Logf("%s is left out: there is no %s", m.name, m.emulator[0])
			continue
		}
		if m.emulator != nil {
			m.by = []string{m.emulator[at]}
		}
		if m.name == "js" {
			root, err := exec.Command("go", "env", "GOROOT").Output()
			if err != nil {
				t.Fatal(err)
			}
			m.by = append(m.by, "--stack-size=8192", filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec_node.js"))
		}
		machines = append(machines, m)
		names = slices.DeleteFunc(names, func(name string) bool { return name == m.name })
	}
	if len(names) > 0 && !slices.Equal(names, []string{"all"}) {
		t.Fatalf("what is KIR_ARCHITECTURES=%s?", strings.Join(names, " "))
	}
	dir := t.TempDir()
	for _, m := range machines {
		m.program = filepath.Join(dir, m.name)
		build := exec.CommandContext(t.Context(), "go", "build", "-o", m.program, "./cmd/kir")
		build.Dir = filepath.Join("..", "..") // where its own go.mod says what it is built of
		build.Env = append(os.Environ(), m.env...)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("building for %s: %v\n%s", m.name, err, out)
		}
	}
	for _, p := range sameEverywhere(t) {
		t.Run(p.name, func(t *testing.T) {
			want := here.sample(t, p)
			if want.status != 0 && !p.random {
				t.Fatal(want.stderr)
			}
			for _, m := range machines[1:] {
				for _, d := range want.differences(m.sample(t, p)) {
					t.Errorf("%s: %s", m.name, d)
				}
			}
			if p.name == "portfolio" {
				other := p
				other.args = append(slices.Clone(p.args), "--seed", "2")
				if len(want.differences(here.sample(t, other))) < 3 {
					t.Error("another seed is not told apart")
				}
			}
		})
	}
	t.Run("shards", func(t *testing.T) {
		p := sameProblem{name: "portfolio", from: filepath.Join("..", "..", "examples"), in: "portfolio", args: []string{"--chains", "4", "--warmup", "100", "--draws", "100"}}
		want := here.sample(t, p)
		for _, m := range machines[1:] {
			at := p.copied(t)
			for k, of := range []*machine{here, m} {
				if r := of.kir(t, at, append([]string{"sample", "problem.yaml", "-o", "run", "--shard", fmt.Sprintf("%d/2", k+1)}, p.args...)...); r.status != 0 {
					t.Fatalf("shard %d on %s: %s", k+1, of.name, r.stderr)
				}
			}
			merged := m.kir(t, at, "merge", "run")
			merged.stored(t, filepath.Join(at, "run"))
			want.stdout = merged.stdout // a merge says other things
			for _, d := range want.differences(merged) {
				t.Errorf("shards of this machine and %s: %s", m.name, d)
			}
		}
	})
}

// A sameProblem is one that is to come out the same everywhere.
type sameProblem struct {
	name, from string   // a directory, of which each machine has a copy, so that they share no cache
	in         string   // where in it the problem is
	files      []string // more that is put there, by name and text
	args       []string // of kir sample
	random     bool     // it may be one that is refused
}

// sameEverywhere returns the examples, shortened, problems with what these do not have,
// and random ones.
func sameEverywhere(t *testing.T) []sameProblem {
	t.Helper()
	examples := filepath.Join("..", "..", "examples")
	short := []string{"--chains", "2", "--warmup", "100", "--draws", "200", "--thin", "1"}
	var all []sameProblem
	for _, name := range []string{"cocktails", "portfolio", "lotion", "document", "spritz", "fragrance", "bar"} {
		p := sameProblem{name: name, from: examples, in: name, args: short}
		all = append(all, p)
		if name == "spritz" || name == "fragrance" || name == "portfolio" {
			p.name, p.args = name+", tempered", append([]string{"--kernel", "tempered"}, short...)
			all = append(all, p)
		}
	}
	book := func(name, text string) sameProblem {
		return sameProblem{name: name, from: examples, in: "cocktails", args: short,
			files: []string{"problem.yaml", "recipes: recipes.csv\ningredients: kinds.csv\ntotal: 300\nsparsity: recipes\n" + text}}
	}
	all = append(all,
		book("kinds of nearness", "properties:\n  near: {likeness: {by: amounts, to: Negroni}}\n  new: {novelty: {by: amounts, floor: 0.01}}\n  far: {novelty: {floor: 0.05}}\n  usual: {pairs: {}}\n"),
		book("formula", "properties:\n  odd: {expression: 'exp(-abs(log(0.1 + share(\"Gin\")))) + share(\"Campari\")^1.7 + sqrt(used)/7 + 0.3^mean(\"sour\")'}\n"),
		book("descriptors", "properties:\n  taste: {forest: {label: taste, want: Fresh, trees: 40, add: {totals: kind, presence: true, ratios: kind}}}\nconstraints:\n  - amount: {of: \"*\", within: book}\n"),
		book("a taste", "properties:\n  liking: {preference: {pairs: tasted.csv, groups: kind}}\n"),
	)
	all[len(all)-3].files = append(all[len(all)-3].files, "kinds.csv", withSour(t, filepath.Join(examples, "cocktails", "kinds.csv")))
	all[len(all)-1].files = append(all[len(all)-1].files, "tasted.csv", tasted)
	count, first := 30, uint64(1)
	for name, set := range map[string]func(text string) error{
		"KIR_PROBLEMS": func(text string) (err error) { count, err = strconv.Atoi(text); return err },
		"KIR_SEED":     func(text string) (err error) { first, err = strconv.ParseUint(text, 10, 64); return err },
	} {
		if text := os.Getenv(name); text != "" {
			if err := set(text); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	for seed := first; seed < first+uint64(count); seed++ {
		kind, p := "", (*randomproblem.Problem)(nil)
		switch seed % 4 {
		case 0:
			kind, p = "ruled", randomproblem.NewRuled(seed)
		case 1:
			kind, p = "learnt", randomproblem.NewLearnt(seed)
		case 2:
			kind, p = "large", randomproblem.NewLarge(seed).Problem
		default:
			kind, p = "random", randomproblem.New(seed)
		}
		if slices.ContainsFunc(p.Wishes, func(w *randomproblem.Wish) bool { return w.Kind == "program" }) {
			continue // which only what has processes can run
		}
		dir := t.TempDir()
		if _, err := p.Write(dir, ""); err != nil {
			t.Fatal(err)
		}
		args := slices.Clone(short)
		if seed%8 >= 4 {
			args = append(args, "--kernel", "tempered")
		}
		all = append(all, sameProblem{name: fmt.Sprintf("%s %d", kind, seed), from: dir, args: args, random: true})
	}
	return all
}

// tasted are pairs of cocktails, one of each liked better.
const tasted = `pair,choice,ingredient,amount
1,better,Gin,50
1,better,Lemon juice,30
1,worse,Campari,30
1,worse,Gin,30
2,better,Gin,45
2,better,Lime juice,20
2,better,Triple Sec,10
2,worse,Light Rum,40
2,worse,Lime juice,45
3,better,Campari,30
3,better,Sweet Vermouth,30
3,worse,Vodka,50
3,worse,Lime juice,120
4,better,Lemon juice,30
4,better,Vodka,50
4,worse,Sweet Vermouth,25
4,worse,Gin,40
`

// withSour returns a table of ingredients with a column of numbers.
func withSour(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	for k := range lines {
		if lines[k] = strings.TrimSpace(lines[k]); k == 0 {
			lines[k] += ",sour"
		} else {
			lines[k] += fmt.Sprintf(",%v", float64(k*k%11)/7)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// copied returns a copy of the problem.
func (p sameProblem) copied(t *testing.T) string {
	t.Helper()
	all := filepath.Join(t.TempDir(), "it")
	if err := os.CopyFS(all, os.DirFS(p.from)); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(all, p.in)
	for k := 0; k < len(p.files); k += 2 {
		if err := os.WriteFile(filepath.Join(dir, p.files[k]), []byte(p.files[k+1]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, ".kir-cache")); err != nil { // a developer's
		t.Fatal(err)
	}
	return dir
}

// An outcome is what a command did.
type outcome struct {
	status         int
	stdout, stderr string
	parts          map[string]string // of draws
	summary        any
}

// kir does a command in a directory.
func (m *machine) kir(t *testing.T, dir string, args ...string) *outcome {
	t.Helper()
	words := append(slices.Clone(m.by), m.program)
	words = append(words, args...)
	c := exec.CommandContext(t.Context(), words[0], words[1:]...)
	c.Dir = dir
	// What runs WebAssembly bounds the environment.
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + t.TempDir()}
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	r := &outcome{}
	if err := c.Run(); err != nil {
		bad, is := errors.AsType[*exec.ExitError](err)
		if !is {
			t.Fatal(err)
		}
		r.status = bad.ExitCode()
	}
	r.stdout, r.stderr = out.String(), said.String()
	return r
}

// sample runs a problem.
func (m *machine) sample(t *testing.T, p sameProblem) *outcome {
	t.Helper()
	dir := p.copied(t)
	r := m.kir(t, dir, append([]string{"sample", "problem.yaml", "-o", "run"}, p.args...)...)
	if r.status == 0 {
		r.stored(t, filepath.Join(dir, "run"))
	}
	return r
}

// stored reads what a run left.
func (r *outcome) stored(t *testing.T, dir string) {
	t.Helper()
	r.parts = make(map[string]string)
	if err := fs.WalkDir(os.DirFS(dir), "draws", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(path)))
		r.parts[path] = string(data)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber() // digit for digit
	if err := d.Decode(&r.summary); err != nil {
		t.Fatal(err)
	}
	if all, is := r.summary.(map[string]any); is {
		delete(all, "timing")
		delete(all, "checksum")
	}
}

// differences says in what two outcomes differ, timings left out.
func (r *outcome) differences(o *outcome) []string {
	var all []string
	if r.status != o.status {
		return append(all, fmt.Sprintf("the exit status is %d and should be %d: %s", o.status, r.status, o.stderr))
	}
	if a, b := untimed(r.stdout), untimed(o.stdout); a != b {
		all = append(all, fmt.Sprintf("it prints\n%s\nand should print\n%s", b, a))
	}
	if r.status != 0 && r.stderr != o.stderr {
		all = append(all, fmt.Sprintf("it says %q and should say %q", o.stderr, r.stderr))
	}
	for name := range maps.Keys(r.parts) {
		if r.parts[name] != o.parts[name] {
			all = append(all, fmt.Sprintf("%s differs, %d bytes and %d", name, len(r.parts[name]), len(o.parts[name])))
		}
	}
	if len(r.parts) != len(o.parts) {
		all = append(all, fmt.Sprintf("there are %d parts and should be %d", len(o.parts), len(r.parts)))
	}
	return append(all, jsonDifferences("summary.json", r.summary, o.summary)...)
}

// untimed returns lines of a report but for what depends on time.
func untimed(text string) string {
	lines := strings.Split(text, "\n")
	for k, line := range lines {
		if strings.HasSuffix(line, " a second.") {
			lines[k] = line[:strings.LastIndex(line, ";")]
		}
	}
	return strings.Join(lines, "\n")
}

// jsonDifferences says where two values differ.
func jsonDifferences(at string, a, b any) []string {
	switch a := a.(type) {
	case map[string]any:
		if b, is := b.(map[string]any); is && len(a) == len(b) {
			var all []string
			for _, key := range slices.Sorted(maps.Keys(a)) {
				all = append(all, jsonDifferences(at+"."+key, a[key], b[key])...)
			}
			return all
		}
	case []any:
		if b, is := b.([]any); is && len(a) == len(b) {
			var all []string
			for k := range a {
				all = append(all, jsonDifferences(fmt.Sprintf("%s[%d]", at, k), a[k], b[k])...)
			}
			return all
		}
	default:
		if a == b {
			return nil
		}
	}
	return []string{fmt.Sprintf("%s is %.80v and should be %.80v", at, b, a)}
}
