package serve

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"kir/internal/config/change"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
)

// FuzzRequest reads what a page sends and makes the change that it asks for: a problem
// file that can be read as YAML, or a refusal.
func FuzzRequest(f *testing.F) {
	for _, text := range []string{
		`{"do": "pin", "ingredient": "Gin", "amount": "20%"}`, `{"do": "ban", "ingredient": "x: y"}`, `{"do": "replace", "ingredient": "Gin", "by": "- #"}`,
		`{"do": "dose", "ingredient": "Gin", "min": "5%", "max": "50"}`, `{"do": "group", "attribute": "kind", "value": "sour", "min": "10%"}`,
		`{"do": "near", "recipe": {"Gin": 500, "Lime": -1}, "changes": 2}`, `{"do": "weight", "property": "taste", "weight": 1e300}`,
		`{"do": "aim", "property": "taste", "way": "want", "aim": ["a", 1, null]}`, `{"do": "rule", "text": "never: [Gin, Lime]"}`, `{"do": "drop", "rule": 0}`, `{"do": "seed", "rule": -7}`, `{"do": "set", "condition": "heat", "set": 1e300}`, `{"do": "set", "condition": "heat", "set": [{}]}`, `{"do": "set", "condition": "a: b"}`,
	} {
		f.Add([]byte(text))
	}
	const text = "total: 100 # units\nproperties:\n  taste: {forest: {label: taste, want: Fresh}}\nconstraints:\n  - amount: {of: Gin, min: 3} # as ever\n  - exclude: [Lime, Rum]\n"
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := readRequest(data)
		var changed []byte
		if err == nil {
			_, all, _ := r.problemChanges(amountConverter{totalUnits: 1000})
			changed, err = change.Apply("problem.yaml", []byte(text), all...)
		}
		if bad := (*inputerr.Error)(nil); err != nil && !errors.As(err, &bad) {
			t.Fatalf("%s: %v", data, err)
		}
		if err != nil {
			return
		}
		root, err := yaml.Parse("problem.yaml", changed)
		if err != nil {
			t.Fatalf("%s: %v\n%s", data, err, changed)
		}
		if total := root.Get("total"); total == nil || total.Text != "100" {
			t.Fatalf("%s: the total is gone\n%s", data, changed)
		}
	})
}

// FuzzHistory opens the steps that lie beside a problem, adds one and opens them again.
func FuzzHistory(f *testing.F) {
	dir := f.TempDir()
	path := filepath.Join(dir, "p.steps.json")
	f.Add([]byte(`{"current": 2, "steps": [{"id": 1, "text": "total: 5"}, {"id": 2, "parent": 1, "change": "x", "text": "total: 6"}]}`))
	f.Add([]byte(`{"current": 1, "steps": [{"id": 1, "parent": 1}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		h, err := openHistory(filepath.Join(dir, "p.yaml"), []byte("total: 5"))
		if err != nil {
			if bad := (*inputerr.Error)(nil); !errors.As(err, &bad) {
				t.Fatal(err)
			}
			return
		}
		steps := len(h.Steps)
		h.addStep(h.Current, "another", "total: 7")
		if err := h.save(); err != nil {
			t.Fatal(err)
		}
		if h, err = openHistory(filepath.Join(dir, "p.yaml"), []byte("total: 5")); err != nil || len(h.Steps) != steps+1 || h.currentStep().Text != "total: 7" {
			t.Fatalf("%s: %+v: %v", data, h, err)
		}
	})
}

// FuzzTasted adds a pair to a file of comparisons that somebody has changed.
func FuzzTasted(f *testing.F) {
	path := filepath.Join(f.TempDir(), pairsFileName)
	f.Add([]byte("pair,choice,ingredient,amount\n1,better,Gin,3\n1,worse,Lime,2\n"), 0, "Gin")
	f.Add([]byte("\n"), 0, "Gin")
	f.Add([]byte("a,b,c,d\n9223372036854775807,,,\n"), 1, "x,\"y")
	f.Fuzz(func(t *testing.T, data []byte, first int, name string) {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		first &= 7
		add := func() (int, error) {
			return appendPair(path, first, map[string]int{name: 3}, map[string]int{"Lime": 2})
		}
		pairs, err := add()
		if err != nil {
			if bad := (*inputerr.Error)(nil); !errors.As(err, &bad) {
				t.Fatal(err)
			}
			return
		}
		first = 0
		if again, err := add(); err != nil || again != pairs+1 && !strings.Contains(string(data), "\r") && utf8.ValidString(name) {
			t.Fatalf("%d pairs, then %d: %v", pairs, again, err)
		}
	})
}
