package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"kir/internal/run"
)

// hostileName is what a name may hold, or a file that somebody gave away: a sequence that
// clears the screen, one that sets the window's title, a bell, text
// that runs backwards, a C1 control and a line separator.
const hostileName = "\x1b[2J\x1b]0;x\x07\u202e\u009b31m\u2028"

// acts says whether a character does something to a terminal.
func acts(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// No command lets a name act on a terminal: names of problems, properties, ingredients,
// recipes, labels, classes, attributes and groups, in files that are read and in those
// of a run that somebody changed.
func TestHostileNames(t *testing.T) {
	t.Chdir(t.TempDir())
	yaml := strings.NewReplacer("\x1b", `\e`, "\x07", `\a`, "\u202e", `\u202e`, "\u009b", `\u009b`, "\u2028", `\L`).Replace(hostileName)
	csv := hostileName
	recipes := "recipe,ingredient,amount,unit,taste" + csv + "\n"
	for k, row := range []string{"Gin 50 Lime 20 Fresh", "Gin 40 Campari 30 Boozy", "Rum 40 Lime 20 Fresh", "Rum 40 Campari 40 Boozy", "Gin 50 Lime 30 Fresh", "Gin 60 Campari 30 Boozy"} {
		f := strings.Fields(row)
		for at := 0; at < 4; at += 2 {
			recipes += fmt.Sprintf("R%d%s,%s%s,%s,ml,%s%s\n", k, csv, f[at], csv, f[at+1], f[4], csv)
		}
	}
	problem := `name: "Name@"
recipes: recipes.csv
ingredients: ingredients.csv
total: 20
sparsity: recipes
properties:
  "taste@": {forest: {label: "taste@", want: "Fresh@"}}
  "dear@": {blend: {attribute: "cost@", larger: {from: 1, to: 9}}}
constraints:
  - limit: {attribute: "cost@", max: 9}
  - amount: {of: "Gin@", max: 15}
sampler: {warmup: 20, chains: 2, draws: 60, kernel: balanced}
`
	for name, text := range map[string]string{
		"recipes.csv":     recipes,
		"problem.yaml":    strings.ReplaceAll(problem, "@", yaml),
		"wrong.yaml":      strings.ReplaceAll(problem+"\"key@\": 1\n", "@", yaml),
		"absent.yaml":     strings.ReplaceAll(strings.ReplaceAll(problem, "recipes.csv", "no@.csv"), "@", yaml),
		"ingredients.csv": strings.ReplaceAll("name,cost@,group@\nGin@,3,spirit@\nRum@,4,spirit@\nLime@,1,sour@\nCampari@,5,bitter@\n", "@", csv),
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	said := 0
	kir := func(args ...string) {
		t.Helper()
		var out, messages bytes.Buffer
		status := reportError(execute(patient(context.Background()), args, &out, &messages), &messages)
		text := out.String() + messages.String()
		if at := strings.IndexFunc(text, acts); at >= 0 {
			t.Errorf("kir %q: %q", args, text[max(0, at-60):min(len(text), at+40)])
		}
		if strings.Contains(text, `\x1b[2J`) || strings.Contains(text, `\u001b[2J`) {
			said++
		}
		t.Logf("%d %q %.300q", status, args, text)
	}
	for _, args := range []string{
		"check problem.yaml", "check problem.yaml --json", "check wrong.yaml", "check absent.yaml", "sample problem.yaml -o run", "sample problem.yaml -o again --json", "show run",
		"show run --best 2", "show run --json", "show run --recipe 1 --batch 100ml", "status run", "report run", "resume run --draws 70", "merge run",
		"draws run --format jsonl", "draws run", "draws run --format wide", "show run --csv", "show run --recipe 1 --batch 100ml --csv", "compare run again --json", "compare run again", "score problem.yaml recipes.csv",
		"init recipes.csv -o new.yaml", "train recipes.csv --label taste" + hostileName, "sample run --exclude Gin -o other", "sample run --exclude nothing" + hostileName,
		"show " + hostileName, "trust " + hostileName, hostileName, "show --" + hostileName, "count --" + hostileName,
	} {
		kir(strings.Split(args, " ")...)
	}
	// The run of somebody who writes what kir would not.
	err := filepath.WalkDir("run", func(path string, e fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".json" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text = bytes.ReplaceAll(text, []byte(`Name`), []byte(`N\u001b[2J\u202e`))
		if filepath.Base(path) == "summary.json" {
			text = bytes.ReplaceAll(text, []byte(`"version": "`), []byte(`"version": "\u001b[2J\u202e`))
		}
		open := regexp.MustCompile(`"checksum": "[0-9a-f]*"`).ReplaceAll(text, []byte(`"checksum": ""`))
		return os.WriteFile(path, run.Seal(open), 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"show run", "status run", "report run", "resume run", "merge run", "compare run again"} {
		kir(strings.Fields(args)...)
	}
	if said < 15 {
		t.Errorf("only %d commands show the names", said)
	}
}
