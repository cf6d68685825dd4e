package compile

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// commandsOf returns the commands of a problem in a directory whose programs are given
// words.
func commandsOf(t *testing.T, dir string, words ...[]string) []*Command {
	t.Helper()
	all, err := ReadCommands(t.Context(), filepath.Join(dir, "problem.yaml"), programProblem(words...))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func programProblem(words ...[]string) []byte {
	text := "total: 20\ningredients: [Gin, Vodka]\nsparsity: {uniform: [1, 2]}\nproperties:\n"
	for k, of := range words {
		quoted := make([]string, len(of))
		for w, word := range of {
			quoted[w] = strconv.Quote(word)
		}
		text += fmt.Sprintf("  p%d: {program: {command: [%s]}}\n", k, strings.Join(quoted, ", "))
	}
	return []byte(text)
}

// Consent is to one list of words, in one directory, with the contents of the program and
// of the files that words name: whatever differs in any of it has another key.
func TestConsentKeys(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	write := func(dir, name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	long := "python3 scorer.py --model models/fragrance-2026-11.json --harmless"
	lists := [][]string{
		{"sh"}, {"sh", "a b"}, {"sh", "a", "b"}, {"sh", "a\nb"}, {"sh", `a" "b`}, {"sh", "a, b"},
		{"sh", "-c", long}, {"sh", "-c", long + "; rm -rf ~"}, {"sh", "-c", long[:60]}, {"sh", "1:a", "b"}, {"sh", "1:a1:b"}, {"sh", "one", "two"}, {"sh", "two", "one"},
	}
	keys := make(map[string]string)
	see := func(what string) {
		t.Helper()
		for _, d := range []string{dir, other} {
			for k, c := range commandsOf(t, d, lists...) {
				of := fmt.Sprint(what, d, lists[k])
				if was, ok := keys[c.Key()]; ok {
					t.Errorf("%s has the key of %s", of, was)
				}
				keys[c.Key()] = of
			}
		}
	}
	see("no files ")
	lists = [][]string{{"sh", "one", "two"}, {"sh", "two", "one"}}
	for _, d := range []string{dir, other} {
		write(d, "one", "1")
	}
	see("a first file ")
	for _, d := range []string{dir, other} {
		if err := os.Rename(filepath.Join(d, "one"), filepath.Join(d, "two")); err != nil {
			t.Fatal(err)
		}
	}
	see("the same under the other name ")
	for _, d := range []string{dir, other} {
		write(d, "two", "2")
	}
	see("other contents ")

	// The same is the same, by another way to the directory and in another problem.
	write(dir, "score.sh", "cat")
	link := filepath.Join(other, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	a, b := commandsOf(t, dir, []string{"./score.sh", "x"})[0], commandsOf(t, link, []string{"sh"}, []string{"./score.sh", "x"})[1]
	write(dir, "elsewhere", "1")
	if c := commandsOf(t, dir, []string{"./score.sh", "x"})[0]; c.Key() != a.Key() {
		t.Error("a file that no word names has a part in the key")
	}
	if b.Key() != a.Key() {
		t.Error("a program is another by a link to its directory")
	}
	if err := a.checkUnchanged(); err != nil {
		t.Error(err)
	}
	write(dir, "score.sh", "cat; rm -rf ~")
	if err := a.checkUnchanged(); err == nil {
		t.Error("a changed program is as it was")
	}
}

// What a command names, or loads beside a script, is changed after consent: each has another
// key then, and what kir itself writes has none.
func TestConsentFiles(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	files := map[string]string{
		"s.py": "import helper\n", "helper.py": "x", "pack/__init__.py": "x", "app/__main__.py": "x", "app/data.txt": "x", "app/below/deep.py": "x",
		"run.sh": "#!./shell -x\n", "shell": "#!/bin/sh\n", "by-env": "#!/usr/bin/env -S ./shell -f./more\n", "more": "x", "recipes.csv": "x",
		"scorer": "#!/usr/bin/env python3\nimport helper\n", "main.js": "x", "bin/run": "#!./shell\n", "env/pyvenv.cfg": "x",
	}
	for name, c := range map[string]struct {
		words   []string
		changed string // a file that is changed, or new
		same    bool
	}{
		"a directory":                     {[]string{"sh", "app"}, "app/__main__.py", false},
		"below a directory":               {[]string{"sh", "app"}, "app/below/deep.py", false},
		"a new file in a directory":       {[]string{"sh", "app/"}, "app/below/new.py", false},
		"code that Python has kept":       {[]string{"sh", "app"}, "app/__pycache__/a.cpython-313.pyc", false},
		"the problem's directory":         {[]string{"sh", "."}, "app/data.txt", false},
		"the directory by a flag":         {[]string{"sh", "--in=app"}, "app/data.txt", false},
		"a link to a directory":           {[]string{"sh", "link"}, "app/data.txt", false},
		"behind =":                        {[]string{"sh", "--file=more"}, "more", false},
		"behind two =":                    {[]string{"sh", "--set=file=more"}, "more", false},
		"behind a letter":                 {[]string{"sh", "-fmore"}, "more", false},
		"behind two letters":              {[]string{"sh", "-vfmore"}, "more", false},
		"in a text":                       {[]string{"sh", "-c", "exec ./more; true"}, "more", false},
		"an interpreter":                  {[]string{"./run.sh"}, "shell", false},
		"an interpreter of an argument":   {[]string{"sh", "run.sh"}, "shell", false},
		"an interpreter by env":           {[]string{"./by-env"}, "shell", false},
		"an argument of an interpreter":   {[]string{"./by-env"}, "more", false},
		"a module beside":                 {[]string{"sh", "s.py"}, "helper.py", false},
		"a package beside":                {[]string{"sh", "s.py"}, "pack/__init__.py", false},
		"a new module beside":             {[]string{"sh", "s.py"}, "json.py", false},
		"a module that is compiled":       {[]string{"sh", "s.py"}, "json.abi3.so", false},
		"a module by name":                {[]string{"./python3", "-m", "app"}, "app/__main__.py", false},
		"a module beside that by name":    {[]string{"./python3", "-Bmapp"}, "helper.py", false},
		"a module of a text":              {[]string{"./python3", "-c", "import helper"}, "pack/__init__.py", false},
		"what looks like kir's":           {[]string{"sh", "."}, "run/run.json.py", false},
		"a state that is none":            {[]string{"sh", "."}, "app/chain=0000.kir", false},
		"a package that looks installed":  {[]string{"sh", "s.py"}, "env/__init__.py", false},
		"beside a program without ending": {[]string{"./scorer"}, "helper.py", false},
		"a new module beside that":        {[]string{"./scorer"}, "json.py", false},
		"beside an argument without one":  {[]string{"./python3", "more"}, "helper.py", false},
		"an ending that is left out":      {[]string{"./node", "main"}, "main.js", false},
		"one in a text":                   {[]string{"./node", "-e", "require('./main')"}, "main.js", false},
		"an interpreter of a directory's": {[]string{"sh", "bin"}, "shell", false},
		"what is installed":               {[]string{"sh", "s.py"}, "env/lib/python3.13/site-packages/x.py", true},
		"what is no module":               {[]string{"sh", "s.py"}, "recipes.csv", true},
		"results":                         {[]string{"sh", "."}, "problem.results.csv", true},
		"a batch":                         {[]string{"sh", "."}, "problem.batch-001.json", true},
		"draws":                           {[]string{"sh", "."}, "run/draws/chain=0001/part-000001.parquet", true},
		"a state":                         {[]string{"sh", "."}, "run/state/chain=0001.kir", true},
		"a count":                         {[]string{"sh", "."}, ".kir-cache/0123456789abcdef0123456789abcdef.kir", true},
		"something else among the counts": {[]string{"sh", "."}, ".kir-cache/x.py", false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write := func(name, text string, mode os.FileMode) {
				t.Helper()
				path := filepath.Join(dir, name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), mode)); err != nil {
					t.Fatal(err)
				}
			}
			for name, text := range files {
				write(name, text, 0o755)
			}
			write("python3", "x", 0o755)
			write("node", "x", 0o755)
			if err := os.Symlink("app", filepath.Join(dir, "link")); err != nil {
				t.Skip(err)
			}
			a := commandsOf(t, dir, c.words)[0]
			if a.TrustError() != nil {
				t.Fatal(a.TrustError())
			}
			if err := a.checkUnchanged(); err != nil {
				t.Fatal(err)
			}
			write(c.changed, "rm -rf ~", 0o644)
			if err := a.checkUnchanged(); (err == nil) != c.same {
				t.Errorf("%q with another %s: %v", c.words, c.changed, err)
			}
			if b := commandsOf(t, dir, c.words)[0]; (b.Key() == a.Key()) != c.same {
				t.Errorf("%q with another %s: the key is the same: %v", c.words, c.changed, !c.same)
			}
		})
	}

	// What kir writes is no longer left out where it can be executed or is a link.
	dir := t.TempDir()
	a := commandsOf(t, dir, []string{"sh", "."})[0]
	if err := os.WriteFile(filepath.Join(dir, "p.results.csv"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	b := commandsOf(t, dir, []string{"sh", "."})[0]
	if err := errors.Join(os.Remove(filepath.Join(dir, "p.results.csv")), os.Symlink("/etc/passwd", filepath.Join(dir, "p.results.csv"))); err != nil {
		t.Fatal(err)
	}
	if c := commandsOf(t, dir, []string{"sh", "."})[0]; a.Key() == b.Key() || b.Key() == c.Key() || a.Key() == c.Key() {
		t.Error("a program in the place of results is left out")
	}
}

// What cannot be hashed whole is not remembered, and may run where all programs may; links
// in a circle end.
func TestConsentPartial(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	dir := t.TempDir()
	for _, name := range []string{"app", "large", "pipes"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, to := range []string{".", "..", "../app"} {
		if err := os.Symlink(to, filepath.Join(dir, "app", "link"+strings.ReplaceAll(to, "/", "-"))); err != nil {
			t.Skip(err)
		}
	}
	if c := commandsOf(t, dir, []string{"sh", "app"})[0]; c.TrustError() != nil {
		t.Error(c.TrustError())
	}
	if err := os.WriteFile(filepath.Join(dir, "large", "hole"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "large", "hole"), maxConsentBytes+1); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", filepath.Join(dir, "pipes", "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for _, words := range [][]string{{"sh", "large"}, {"sh", "--data=large/hole"}, {"sh", "pipes"}, {"sh", "pipes/s"}} {
		c := commandsOf(t, dir, words)[0]
		if c.TrustError() == nil || c.Trust() == nil || c.Trusted() || c.checkUnchanged() != nil {
			t.Errorf("%q is remembered: %v", words, c.TrustError())
		}
		p, err := Load(AllowPrograms(t.Context()), filepath.Join(dir, "problem.yaml"), Options{Text: programProblem(words)})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, word := range []string{"/dev/null", "/dev/stdin", "2>/dev/null", "/", "a / b"} {
		if c := commandsOf(t, dir, []string{"sh", "-c", word})[0]; c.TrustError() != nil {
			t.Errorf("%q: %v", word, c.TrustError())
		}
	}
}

// The message has every word of every command, whole and on a line of its own, and
// nothing in a word can end its line or hide what follows.
func TestConsentShowsAll(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	words := [][]string{
		{"sh", "-c", strings.Repeat("a long script ", 20) + "to its end"},
		{"sh", "a\nb", "\x1b[2J", "\u202ecod.exe", "a b"},
	}
	dir := t.TempDir()
	_, err := Load(t.Context(), filepath.Join(dir, "problem.yaml"), Options{Text: programProblem(words...)})
	var consent *ConsentError
	if !errors.As(err, &consent) || len(consent.Commands) != 2 {
		t.Fatal(err)
	}
	var want []string
	for _, of := range words {
		want = append(want, "  in "+strconv.Quote(dir))
		for _, word := range of {
			want = append(want, "    "+strconv.Quote(word))
		}
	}
	if lines := strings.Split(err.Error(), "\n"); !slices.Equal(lines[1:], want) {
		t.Errorf("it says\n%s", err)
	}

	// Nothing but what was allowed is.
	first := consent.Commands[0].Key()
	ctx := AllowCommands(t.Context(), func(c *Command) bool { return c.Key() == first })
	if _, err = Load(ctx, filepath.Join(dir, "problem.yaml"), Options{Text: programProblem(words...)}); !errors.As(err, &consent) || len(consent.Commands) != 1 || consent.Commands[0].Words[1] != "a\nb" {
		t.Errorf("with one of two allowed: %v", err)
	}
	p, err := Load(ctx, filepath.Join(dir, "problem.yaml"), Options{Text: programProblem(words[0])})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}
