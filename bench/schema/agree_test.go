// Package schema_test holds the reader of problem files and their JSON Schema against
// each other, with a validator of another's making.
package schema_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/xuri/excelize/v2"

	"kir/bench/randomproblem"
	"kir/internal/compile"
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
	"kir/internal/testonly/testmode"
	"kir/model"
)

// document returns the JSON Schema as it is written.
var document = sync.OnceValues(func() (any, error) {
	text, err := compile.Schema().JSON()
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(text))
})

// types returns the JSON Schema of each key of a section.
func types(t *testing.T, s *schema.Section) map[string]any {
	t.Helper()
	whole, err := document()
	if err != nil {
		t.Fatal(err)
	}
	doc := whole.(map[string]any)
	if s != schema.Problem {
		doc = doc["$defs"].(map[string]any)[s.Slug()].(map[string]any)
	}
	return doc["properties"].(map[string]any)
}

// sections returns all sections, the whole file first.
func sections() []*schema.Section {
	return append([]*schema.Section{schema.Problem}, compile.Schema().Sections()...)
}

// compiled returns the JSON Schema.
func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := document()
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(schema.FileName, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(schema.FileName)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// value returns a node as an editor's YAML reader has it.
func value(n *yaml.Node) any {
	switch n.Kind {
	case yaml.Mapping:
		m := make(map[string]any, len(n.Entries))
		for _, e := range n.Entries {
			m[e.Key.Text] = value(e.Value)
		}
		return m
	case yaml.Sequence:
		items := make([]any, len(n.Items))
		for k, item := range n.Items {
			items[k] = value(item)
		}
		return items
	}
	return n.Plain()
}

func parsed(t *testing.T, text string) any {
	t.Helper()
	n, err := yaml.Parse("p.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return value(n)
}

// bench is a directory with the files that the examples of keys name.
func bench(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	book := excelize.NewFile()
	for sheet, file := range map[string]string{"Drinks": "recipes.csv", "Stock": "stock.csv"} {
		if _, err := book.NewSheet(sheet); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		for r, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
			var row []any
			for _, cell := range strings.Split(line, ",") {
				if cell == "" {
					row = append(row, nil)
					continue
				}
				row = append(row, parsed(t, cell))
			}
			if err := book.SetSheetRow(sheet, fmt.Sprintf("A%d", r+1), &row); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := book.SaveAs(filepath.Join(dir, "bar.xlsx")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "p.yaml")
	recipes, err := os.ReadFile(filepath.Join(dir, "recipes.csv"))
	if err != nil {
		t.Fatal(err)
	}
	var trials strings.Builder // the recipes, with the conditions of the examples, which nobody wrote down
	for k, line := range strings.Split(strings.TrimSpace(string(recipes)), "\n") {
		trials.WriteString(line + map[bool]string{true: ",wish,temperature,catalyst\n", false: ",,,\n"}[k == 0])
	}
	if err := os.WriteFile(filepath.Join(dir, "conditions.csv"), []byte(trials.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{recipes: recipes.csv, ingredients: stock.csv, total: 1000, properties: {a: {forest: {label: taste, want: Fresh}}, b: {learn: {label: taste, want: Fresh}}}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := compile.Load(compile.AllowPrograms(t.Context()), path, compile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b, m bytes.Buffer
	if err := errors.Join(p.Properties[1].Model.(*model.LearnedModel).Write(&m), os.WriteFile(filepath.Join(dir, "taste.model"), m.Bytes(), 0o600),
		p.Properties[0].Model.(*model.Forest).Write(&b), os.WriteFile(filepath.Join(dir, "taste.forest"), b.Bytes(), 0o600), p.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// unseen are the words of the reader about what the schema cannot know.
var unseen = regexp.MustCompile(strings.Join([]string{
	// What names stand for: ingredients, recipes, labels, classes, attributes and
	// their values, sheets, encodings, words, programs.
	"there is no ingredient", "no ingredient matches", "no ingredient has", "the ingredients have no attribute", "is not one of the [0-9]+ ingredient",
	"or a column of the ingredients file", "is no part of the block", "there is no recipe", "the recipes have no label", "has no class", "the workbook has no sheet", "there is no encoding", "no topic has the word",
	"there is no condition", "the recipes have no column for the condition", "is given, and the same in all of a batch", "the given value \".*\" is none of the values", "the value is \".*\": write a number", "no value of .* is allowed", "has no numbers", "is listed by", " has no value ", "has the .* which the condition does not list",
	"cannot be run", "the model has no (input|output|class)", "the model asks for", "is neither an ingredient nor a constant",
	// What is in files, and whether they are there.
	"there is no such file", "the file has no sheets", "is not a number, so", "the model says .* here", "is of classes, and none is wanted", "has no classes", "is for numbers, and the model", "features lists [0-9]+", "the (forest|model) in the file predicts",
	"has one return for each ingredient", "no column is called",
	// What properties there are, and what they predict.
	"there is no property", "there is no objective", "no recipe was found that keeps", "and the limit bounds", "does not predict how a measurement varies",
	// Arithmetic: numbers beside each other, beside the total and the recipes.
	"the first must be lower", "there is nothing to (maximize|minimize)", "write the (smaller|lower) (number|one) first", "no number is between", "contradicts itself", "no mass on any possible number",
	"of 1?[0-9]* units and not a whole number", "(min|max|step|total|used|distance|changes) is [0-9.e+]+: it must be at most", "units: it must be from [01] units to 100 %", "these constraints cannot all hold", "no recipe has a",
	"too many for a total", "no distance can be compared", "the rule begins with [0-9]+ ingredients",
	// The languages of formulas and of sizes.
	"the (stock|batch) is", "unexpected token", "is not expected here", "the expression ends where", "there is no \"", "the size of .* is not understood",
}, "|"))

// A judge holds the reader and the schema against each other.
type judge struct {
	schema            *jsonschema.Schema
	dir               string
	taken             map[string]bool // by the reader
	good, bad, unseen int
}

// look reads a problem both ways and says whether the reader takes it.
func (j *judge) look(t *testing.T, what string, doc any) bool {
	t.Helper()
	text, err := yaml.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	if taken, ok := j.taken[string(text)]; ok {
		return taken
	}
	wrong := j.schema.Validate(parsed(t, string(text)))
	path := filepath.Join(j.dir, "problem.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	p, refused := compile.Load(compile.AllowPrograms(t.Context()), path, compile.Options{Workers: 1})
	if refused == nil {
		if err := j.schema.Validate(parsed(t, string(p.Resolved))); err != nil {
			t.Errorf("%s: as resolved: %v\n%s", what, err, p.Resolved)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	} else if bad := (*inputerr.Error)(nil); !errors.As(refused, &bad) {
		t.Errorf("%s: %v\n%s", what, refused, text)
	}
	switch {
	case refused == nil && wrong == nil:
		j.good++
	case refused == nil:
		t.Errorf("%s: the reader takes what the schema refuses: %v\n%s", what, wrong, text)
	case wrong != nil:
		j.bad++
	case unseen.MatchString(refused.Error()):
		j.unseen++
	default:
		t.Errorf("%s: the schema takes what the reader refuses: %v\n%s", what, refused, text)
	}
	j.taken[string(text)] = refused == nil
	return refused == nil
}

// place puts a section where a type has it, and says whether it does.
func place(rule map[string]any, ref string, section any) (any, bool) {
	if rule["$ref"] == ref {
		return section, true
	}
	if either, ok := rule["anyOf"].([]any); ok {
		for _, r := range either {
			if v, ok := place(r.(map[string]any), ref, section); ok {
				return v, true
			}
		}
	}
	for key, wrap := range map[string]func(any) any{
		"items": func(v any) any { return []any{v} },
		// A name that the files have where it is no free choice.
		"additionalProperties": func(v any) any {
			return map[string]any{map[bool]string{true: "Gin", false: "wish"}[ref == "#/$defs/input"]: v}
		},
	} {
		if r, ok := rule[key].(map[string]any); ok {
			if v, ok := place(r, ref, section); ok {
				return wrap(v), true
			}
		}
	}
	return nil, false
}

// around returns a problem in which a section is what it is given.
func around(t *testing.T, s *schema.Section, section any) any {
	t.Helper()
	if s == schema.Problem {
		doc := parsed(t, "{recipes: recipes.csv, ingredients: stock.csv, total: 1000}").(map[string]any)
		if m, ok := section.(map[string]any); ok {
			for key, v := range m {
				if doc[key] = v; strings.Contains(fmt.Sprint(key, v), "ingredients") && strings.Contains(fmt.Sprint(v), "count") {
					delete(doc, "recipes")
					doc["sparsity"] = parsed(t, "{uniform: [2, 3]}")
				}
			}
		}
		if doc["constraints"] != nil && strings.Contains(fmt.Sprint(doc["constraints"]), "property:") {
			doc["properties"] = parsed(t, "{Fresh: {forest: {file: taste.forest, want: Fresh}}, stars: {forest: {label: stars, maximize: true, trees: 3}}}")
		}
		if names, ok := doc["trade"].([]any); ok && doc["properties"] == nil {
			properties := make(map[string]any) // of these names, as whatever they are called can be traded off
			for _, name := range names {
				properties[fmt.Sprint(name)] = parsed(t, "{blend: {attribute: cost, minimize: true}}")
			}
			doc["properties"] = properties
		}
		if text := fmt.Sprint(doc["constraints"], doc["campaign"]); doc["conditions"] == nil && strings.Contains(text, "condition:") || strings.Contains(text, "alike:") {
			doc["conditions"] = parsed(t, "{temperature: {from: 150, to: 190, step: 5}, catalyst: {values: [A, B]}}")
		}
		if doc["conditions"] != nil && doc["recipes"] == "recipes.csv" {
			doc["recipes"] = "conditions.csv"
		}
		if doc["constraints"] != nil {
			doc["sparsity"] = parsed(t, "{uniform: [1, 2]}") // few enough to be counted one by one
		}
		return doc
	}
	for _, parent := range sections() {
		of := types(t, parent)
		for _, k := range parent.Keys {
			if v, ok := place(of[k.Name].(map[string]any), "#/$defs/"+s.Slug(), section); ok && parent != s {
				outer := parsed(t, k.Example).(map[string]any)
				outer[k.Name] = v
				return around(t, parent, outer)
			}
		}
	}
	t.Fatalf("%s stands nowhere", s.ID)
	return nil
}

// with returns a mapping with another value of a key.
func with(m map[string]any, key string, v any) map[string]any {
	out := map[string]any{key: v}
	for k, v := range m {
		if k != key {
			out[k] = v
		}
	}
	return out
}

// without returns a mapping without a key.
func without(m map[string]any, key string) map[string]any {
	out := with(m, key, nil)
	delete(out, key)
	return out
}

// TestAgree reads problems with the reader and with the schema: the example of each
// key, the examples of any two keys of a section together, and each key misspelt,
// left out, and with values of other kinds; of the pairs and the other values each
// eighth, or with KIR_LONG all. They agree but on what unseen has.
func TestAgree(t *testing.T) {
	n, every := 0, testmode.Pick(1, 8)
	turn := func() bool { n++; return n%every == 0 }
	j := &judge{schema: compiled(t), dir: bench(t), taken: make(map[string]bool)}
	values := parsed(t, `[null, [], {}, true, false, -1, 0, 0.5, 1, 1e300, "", zz, "7%", "7.55%", "-7%", [zz], [1], [1, 2], [2, 1], [[]], [null], {zz: 1}, {zz: zz}, {family: citrus}, [{zz: 1}]]`).([]any)
	for _, s := range sections() {
		for _, k := range s.Keys {
			what := s.ID + " " + k.Name
			example := parsed(t, k.Example).(map[string]any)
			if example[k.Name] == nil || !j.look(t, what, around(t, s, example)) {
				t.Errorf("%s: the example %s does not show it, or is not taken", what, k.Example)
			}
			j.look(t, what+" misspelt", around(t, s, with(without(example, k.Name), k.Name+"x", example[k.Name])))
			j.look(t, what+" left out", around(t, s, without(example, k.Name)))
			for _, v := range values {
				if turn() {
					j.look(t, what, around(t, s, with(example, k.Name, v)))
				}
			}
			for _, other := range s.Keys {
				if !turn() {
					continue
				}
				j.look(t, what+" with "+other.Name, around(t, s, with(example, other.Name, parsed(t, other.Example).(map[string]any)[other.Name])))
			}
		}
	}
	t.Logf("%d problems: %d good, %d bad, %d bad in ways that the schema cannot know", j.good+j.bad+j.unseen, j.good, j.bad, j.unseen)
	if least := 200 / every; j.good < least || j.bad < least {
		t.Error("these are too few")
	}
}

// TestProblems: the schema takes the examples' problems and random ones.
func TestProblems(t *testing.T) {
	s := compiled(t)
	files, err := filepath.Glob("../../examples/*/problem.yaml")
	if err != nil || len(files) < 6 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(parsed(t, string(text))); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if !strings.HasPrefix(string(text), schema.Modeline("../"+schema.FileName)+"\n") {
			t.Errorf("%s does not name its schema in the first line", file)
		}
	}
	for seed := range uint64(200) {
		text, err := randomproblem.New(seed).YAML()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(parsed(t, text)); err != nil {
			t.Errorf("random problem %d: %v\n%s", seed, err, text)
		}
	}
}
