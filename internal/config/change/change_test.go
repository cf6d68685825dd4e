package change_test

import (
	"strings"
	"testing"

	"kir/internal/config/change"
	"kir/internal/config/yaml"
)

// TestApply: only what is changed changes.
func TestApply(t *testing.T) {
	const plain = "name: x # the name\ntotal: 100\nproperties:\n  taste: {forest: {label: taste, want: Fresh}} # as it is\n  cost:\n    blend:\n      attribute: cost\n      smaller: {from: 1, to: 9} # euros\n    weight: 2\nsampler: {seed: 1}\n"
	const ruled = "total: 100\nconstraints: # what must be\n  # the base\n  - require: Gin # always\n  - amount: {of: Gin, min: 10} # a dose\n\n  # never\n  - exclude: [Rum, Milk]\n  - group: {of: {kind: juice}, total: [5, \"30%\"]}\nsampler: {seed: 1} # the end\n"
	for _, c := range []struct {
		name, text string
		change     change.Change
		want       string // lines of the difference
	}{
		{"first rule", plain, change.Exclude{Ingredient: "Gin"}, "+constraints:\n+  - exclude: Gin\n"},
		{"pin at an amount", plain, change.Pin{Ingredient: "Crème: de", Amount: "20%"}, "+constraints:\n+  - require: \"Crème: de\"\n+  - amount: {of: \"Crème: de\", min: \"20%\", max: \"20%\"}\n"},
		{"a comment stays above its key", "total: 1\n# chains\nsampler: {seed: 1}\n", change.Exclude{Ingredient: "Gin"}, "+constraints:\n+  - exclude: Gin\n"},
		{"what is commented out", "total: 1\n# rules\n# constraints:\n#   - exclude: [a]\nsampler: {}\n", change.Pin{Ingredient: "Gin"}, "-# constraints:\n+constraints:\n+   - require: Gin\n"},
		{"no end of line", "total: 1", change.Exclude{Ingredient: "Gin"}, "-total: 1\n\\ No newline at end of file\n+total: 1\n+constraints:\n+  - exclude: Gin\n\\ No newline at end of file\n"},
		{"weight", plain, change.Weight{Property: "cost", Weight: 0.5}, "-    weight: 2\n+    weight: 0.5\n"},
		{"first weight", plain, change.Weight{Property: "taste", Weight: 3}, "-  taste: {forest: {label: taste, want: Fresh}} # as it is\n+  taste: {forest: {label: taste, want: Fresh}, weight: 3} # as it is\n"},
		{"a trade-off", "total: 10 # a glass\n", change.Trade{Objectives: []string{"cost", "taste"}}, "+trade: [cost, taste]\n"},
		{"another trade-off", "total: 10\ntrade: [cost, taste] # the two\n", change.Trade{Objectives: []string{"cost", "body"}}, "-trade: [cost, taste] # the two\n+trade: [cost, body] # the two\n"},
		{"no trade-off", "total: 10\ntrade: [cost, taste]\n", change.Trade{}, "-trade: [cost, taste]\n"},
		{"class", plain, change.SetObjective{Property: "taste", Way: "want", Value: []any{"Dry", "Sour"}}, "-  taste: {forest: {label: taste, want: Fresh}} # as it is\n+  taste: {forest: {label: taste, want: [Dry, Sour]}} # as it is\n"},
		{"another way", plain, change.SetObjective{Property: "cost", Way: "range", Value: yaml.Map{{Key: "from", Value: 1}, {Key: "to", Value: 3}}}, "-      smaller: {from: 1, to: 9} # euros\n+      range: {from: 1, to: 3}\n"},
		{"a range for a direction", "properties: {cost: {blend: {attribute: cost, minimize: true}}}\n", change.SetObjective{Property: "cost", Way: "range", Value: yaml.Map{{Key: "from", Value: 1}, {Key: "to", Value: 3}}}, "-properties: {cost: {blend: {attribute: cost, minimize: true}}}\n+properties: {cost: {blend: {attribute: cost, range: {from: 1, to: 3}}}}\n"},
		{"a direction for a range", plain, change.SetObjective{Property: "cost", Way: "minimize", Value: true}, "-      smaller: {from: 1, to: 9} # euros\n+      minimize: true\n"},
		{"setting", plain, change.Setting{Path: []string{"sampler", "seed"}, Value: 7}, "-sampler: {seed: 1}\n+sampler: {seed: 7}\n"},
		{"a text of lines", "name: | # of two\n  one\n    two\n\n  three\n\n# chains\nsampler: {seed: 1}\n", change.Setting{Path: []string{"name"}, Value: "x"}, "-name: | # of two\n-  one\n-    two\n-\n-  three\n+name: x\n"},
		{"a folded text at the end", "total: 1\nname: >-\n  one\n  two", change.Setting{Path: []string{"name"}, Value: "x y"}, "-name: >-\n-  one\n-  two\n\\ No newline at end of file\n+name: x y\n\\ No newline at end of file\n"},
		{"texts in quotes", "name: 'it''s: # x' # old\nseed: \"a \\\" b\"\n", change.Setting{Path: []string{"name"}, Value: 2}, "-name: 'it''s: # x' # old\n+name: 2 # old\n"},
		{"a quote in a quote", "a: 1\nseed: \"a \\\" # b\" # old\n", change.Setting{Path: []string{"seed"}, Value: true}, "-seed: \"a \\\" # b\" # old\n+seed: true # old\n"},
		{"nothing there yet", "sampler:\n  seed: ~ # none\n  chains: 2\n", change.Setting{Path: []string{"sampler", "seed"}, Value: 7}, "-  seed: ~ # none\n+  seed: 7 # none\n"},
		{"new setting", plain, change.Setting{Path: []string{"search", "effort"}, Value: 0.5}, "+search: {effort: 0.5}\n"},
		{"another spelling is another one", ruled, change.Pin{Ingredient: "gin"}, "+  - require: gin\n"},
		{"dose again", ruled, change.Pin{Ingredient: "Gin", Amount: "30"}, "-  - amount: {of: Gin, min: 10} # a dose\n+  - amount: {of: Gin, min: 30, max: 30} # a dose\n"},
		{"ban what was pinned", ruled, change.Exclude{Ingredient: "Gin"}, "-  - require: Gin # always\n+  - exclude: Gin\n"},
		{"ban what was pinned at an amount", "constraints:\n  - require: Gin\n  - amount: {of: Gin, min: \"20%\", max: \"20%\"}\n  - amount: {of: [Gin], max: 300, min: 300}\n  - amount: {of: Gin, max: 30}\n  - amount: {of: Rum, min: 2, max: 2}\n", change.Exclude{Ingredient: "Gin"},
			"-  - require: Gin\n-  - amount: {of: Gin, min: \"20%\", max: \"20%\"}\n-  - amount: {of: [Gin], max: 300, min: 300}\n+  - exclude: Gin\n"},
		{"pin what was banned", ruled, change.Pin{Ingredient: "Milk"}, "-  - exclude: [Rum, Milk]\n+  - exclude: [Rum]\n+  - require: Milk\n"},
		{"the first that was banned", ruled, change.Pin{Ingredient: "Rum"}, "-  - exclude: [Rum, Milk]\n+  - exclude: [Milk]\n+  - require: Rum\n"},
		{"group", ruled, change.Group{Attribute: "kind", Value: "juice", Max: "20%"}, "-  - group: {of: {kind: juice}, total: [5, \"30%\"]}\n+  - group: {of: {kind: juice}, total: [0, \"20%\"]}\n"},
		{"other group", ruled, change.Group{Attribute: "kind", Value: "spirit", Min: "3"}, "+  - group: {of: {kind: spirit}, total: [3, \"100%\"]}\n"},
		{"a given value", "conditions:\n  heat: {from: 1, to: 3, step: 1} # the oven\n", change.Given{Condition: "heat", Value: 2}, "-  heat: {from: 1, to: 3, step: 1} # the oven\n+  heat: {from: 1, to: 3, step: 1, given: 2} # the oven\n"},
		{"another given value", "conditions: {oven: {values: [a, b], given: a}}\n", change.Given{Condition: "oven", Value: "b"}, "-conditions: {oven: {values: [a, b], given: a}}\n+conditions: {oven: {values: [a, b], given: b}}\n"},
		{"a condition let go", "conditions:\n  oven:\n    values: [a, b]\n    given: a # today\n", change.Given{Condition: "oven"}, "-    given: a # today\n"},
		{"a list of constants", "properties:\n  taste: {model: {file: m.txt, constants: {heat: [2, 1.5], x: 3}}}\n  body:\n    model:\n      file: n.txt\n      constants:\n        heat: [1.5, 2] # as above\n", change.Given{Condition: "heat", Value: 2}, "-  taste: {model: {file: m.txt, constants: {heat: [2, 1.5], x: 3}}}\n+  taste: {model: {file: m.txt, constants: {x: 3}}}\n-      constants:\n-        heat: [1.5, 2] # as above\n+conditions: {heat: {values: [2, 1.5], given: 2}}\n"},
		{"near", plain, change.Near{Recipe: "Negroni", Changes: 2}, "+constraints:\n+  - near: {recipe: Negroni, changes: 2}\n"},
		{"near another", "constraints:\n  - near: {recipe: Negroni, distance: 3} # x\n", change.Near{Parts: []change.Part{{"Gin", 3}, {"Crème", 2}}, Changes: 1},
			"-  - near: {recipe: Negroni, distance: 3} # x\n+  - near: {recipe: {Gin: 3, \"Crème\": 2}, changes: 1} # x\n"},
		{"drop", ruled, change.DropRule{Rule: 1}, "-  - amount: {of: Gin, min: 10} # a dose\n"},
		{"the only rule", "total: 1\nconstraints:\n- exclude: a\n", change.DropRule{}, "-- exclude: a\n"},
		{"an empty list", "total: 1\nconstraints: []\n", change.Exclude{Ingredient: "a"}, "-constraints: []\n+constraints: [{exclude: a}]\n"},
		{"nothing there", "total: 1\nconstraints: # none\n", change.Exclude{Ingredient: "a"}, "+  - exclude: a\n"},
		{"rules in brackets", "total: 1\nconstraints: [{exclude: \"a]\"},\n  {require: b} # last\n  ]\n", change.Exclude{Ingredient: "c"}, "-  {require: b} # last\n+  {require: b}, {exclude: c} # last\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, ends := range []string{"\n", "\r\n"} {
				text := strings.ReplaceAll(c.text, "\n", ends)
				got, err := change.Apply("p.yaml", []byte(text), c.change)
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(text, ends) && strings.Count(string(got), "\n") != strings.Count(string(got), ends) {
					t.Errorf("the ends of lines differ:\n%q", got)
				}
				var lines []string
				for _, line := range strings.SplitAfter(change.Diff("a", []byte(text), "b", got), "\n") {
					if strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-") || strings.HasPrefix(line, `\`) {
						lines = append(lines, strings.ReplaceAll(line, "\r", ""))
					}
				}
				if len(lines) < 3 {
					t.Fatalf("no difference: %q", got)
				}
				if diff := strings.Join(lines[2:], ""); diff != c.want {
					t.Errorf("got\n%swant\n%s", diff, c.want)
				}
			}
		})
	}
}

// TestApplyFails: what cannot be changed is told with its place.
func TestApplyFails(t *testing.T) {
	for _, c := range []struct {
		text   string
		change change.Change
		want   string
	}{
		{"properties: {taste: {forest: {}}}", change.Weight{Property: "tast", Weight: 1}, "did you mean"},
		{"properties: {taste: {forest: {}}}", change.SetObjective{Property: "taste", Way: "range", Value: 1}, "cannot be asked for"},
		{"properties: {taste: {program: {}}}", change.SetObjective{Property: "taste", Way: "want", Value: 1}, "by hand"},
		{"total: 1", change.Pin{Ingredient: "a", Amount: "2 cl"}, "percentage"},
		{"total: 1\nconstraints: 3", change.Exclude{Ingredient: "a"}, "no list"},
		{"total: 1", change.DropRule{Rule: 2}, "p.yaml:1:1"},
		{"- 1\n- 2", change.Setting{Path: []string{"seed"}, Value: 1}, "no place"},
	} {
		if got, err := change.Apply("p.yaml", []byte(c.text), c.change); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, %+v: %q, %v", c.text, c.change, got, err)
		}
	}
}

// FuzzApply: whatever the text, a change says what it is to say, and nothing else,
// or is refused.
func FuzzApply(f *testing.F) {
	for _, text := range []string{"a: 1\nconstraints:\n  - exclude: x\n", "constraints: [{require: 'a''b'}, {amount: {of: Gin, max: 3}}]", "constraints:\n- amount:\n    of: |\n      Gin\n  # c\n- {a: \"\\\"\"}\r\n", "{}", "- - a\n  - b", "constraints: ~ # x"} {
		f.Add([]byte(text), "Gin")
	}
	f.Fuzz(func(t *testing.T, text []byte, name string) {
		for _, c := range []change.Change{change.Pin{Ingredient: name, Amount: "3"}, change.Exclude{Ingredient: name}, change.DropRule{Rule: 1}, change.Setting{Path: []string{"sampler", "seed"}, Value: 3}} {
			got, err := change.Apply("p.yaml", text, c)
			if err != nil {
				continue
			}
			if _, err := yaml.Parse("p.yaml", got); err != nil {
				t.Fatalf("%q, %+v: %q: %v", text, c, got, err)
			}
		}
	})
}

// A rule that the file has already, whatever its spelling in YAML, is not added once more.
func TestARuleIsAddedOnce(t *testing.T) {
	const text = "total: 100\nconstraints:\n  - require: Gin # always\n  - exclude: [Milk, Rum]\n  - amount: {of: Gin, max: 30}\n"
	for _, rule := range []string{`require: "Gin"`, "exclude:\n  - Milk\n  - Rum", "amount: {of: 'Gin', max: 30}"} {
		got, err := change.Apply("p.yaml", []byte(text), change.AddRule{Text: rule})
		if err != nil || string(got) != text {
			t.Errorf("%s: %v\n%s", rule, err, got)
		}
	}
	got, err := change.Apply("p.yaml", []byte(text), change.AddRule{Text: "require: Rum"})
	if err != nil || string(got) == text {
		t.Errorf("another rule is not added: %v\n%s", err, got)
	}
}
