package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
)

// Files that an earlier kir wrote open for ever: those of each version of the formats
// stay in testdata/golden, and all that reads them is asked. docs/formats.md describes
// them. They were made in that directory by
//
//	kir train recipes.csv --label taste --total 20 --trees 5 -o forest.json
//	kir train recipes.csv --label taste --ingredients attributes.csv --total 20 --trees 5 \
//		--means abv --ratios kind --choose --seed 5 -o forest-version-3.json
//	kir sample problem.yaml -o run --no-report
//	kir draws run > draws.csv
func TestGoldenFiles(t *testing.T) {
	versions, err := filepath.Glob("testdata/golden/*")
	if err != nil || len(versions) == 0 {
		t.Fatal("there are none: ", err)
	}
	for _, version := range versions {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(version)); err != nil {
			t.Fatal(err)
		}
		file := func(name string) []byte {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		kir := func(args ...string) []byte {
			t.Helper()
			var out, said bytes.Buffer
			for k, arg := range args {
				if k > 0 && arg[0] != '-' {
					args[k] = filepath.Join(dir, arg)
				}
			}
			if err := execute(patient(context.Background()), args, &out, &said); err != nil || said.Len() > 0 {
				t.Fatalf("%s: kir %q: %v: %s", version, args, err, &said)
			}
			return out.Bytes()
		}
		if got := kir("draws", "run"); !bytes.Equal(got, file("draws.csv")) {
			t.Errorf("%s: the draws are\n%s", version, got)
		}
		// The summary is read as it is, and is of the draws.
		if got := kir("show", "run", "--json"); !bytes.Equal(got, file("run/summary.json")) {
			t.Errorf("%s: the summary is\n%s", version, got)
		}
		// The states say that the chains are done.
		if got := kir("status", "run", "--json"); !bytes.Contains(got, []byte(`"chains_done": 2`)) {
			t.Errorf("%s: the status is %s", version, got)
		}
		kir("check", "problem.yaml")
		for to, from := range map[string]string{"resolved.yaml": "run/problem.yaml", "forest.json": "forest-version-3.json"} {
			if err := os.WriteFile(filepath.Join(dir, to), file(from), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		kir("check", "resolved.yaml")
	}
}
