package dataset_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"kir/internal/dataset"
	"kir/internal/measure"
)

// someText returns a text of characters that readers and spreadsheets take for something.
func someText(r *rand.Rand) string {
	signs := []rune("aé\u0301\u0338=+-@＝＠'\"\r\n\t ,;|\u00a0\u2000\u2028\u202e\ufeff\u0085B1.%\\ﬁ")
	var b strings.Builder
	for range r.IntN(7) {
		b.WriteRune(signs[r.IntN(len(signs))])
	}
	return b.String()
}

// TestNameIsStable: the name of a name is itself, and that of its cell, too; no cell runs as a
// formula.
func TestNameIsStable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		text := someText(r)
		name := dataset.NormalizeName(text)
		cell := dataset.EscapeCell(name)
		if dataset.NormalizeName(name) != name || dataset.NormalizeName(cell) != name {
			t.Fatalf("%q: %q, then %q; the cell %q is %q", text, name, dataset.NormalizeName(name), cell, dataset.NormalizeName(cell))
		}
		if _, plain := measure.Number(cell); dataset.IsFormula(cell) && !plain {
			t.Fatalf("%q is the formula %q", text, cell)
		}
	}
	for text, want := range map[string]string{
		"house ": "house", "cafe\u0301": "caf\u00e9", "'=x": "=x", "'＝x": "＝x", "' =x": "=x", "''=x": "''=x", "'Nduja": "'Nduja", "'": "'", "a\r\nb\rc": "a\nb\nc", "'-5": "-5", "'=\u0338": "'≠",
	} {
		if got := dataset.NormalizeName(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestResultsAreStable: results of any names are read as they were written, and written as they
// were read.
func TestResultsAreStable(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	one, err := measure.ParseAmount("1.5")
	if err != nil {
		t.Fatal(err)
	}
	for range 2000 {
		names := make([]string, 6) // of ingredients, a label, a recipe and an id; and a value
		for k := range names {
			for names[k] == "" || k == 2 && dataset.IsResultColumn(names[k]) || k == 5 && !strings.Contains(names[k], "x") {
				names[k] = dataset.NormalizeName(someText(r) + strings.Repeat("x", k%2+k/5))
				if message, _ := dataset.CheckCell(names[k]); message != "" {
					names[k] = ""
				}
			}
		}
		in, err := dataset.NewIngredients(names[0], names[1]+"2")
		if err != nil {
			t.Fatal(err)
		}
		log := &dataset.Results{Ingredients: in, Labels: []string{names[2]}, Entries: []dataset.Result{
			{ID: names[3], Recipe: names[4], Parts: []dataset.Part{{Ingredient: 0, Amount: one}, {Ingredient: 1, Amount: one}}, Values: []string{names[5]}, Status: dataset.StatusMade, Time: "t"},
		}}
		text, err := log.EncodeCSV()
		if err != nil {
			t.Fatal(err)
		}
		back, err := dataset.ReadResults(strings.NewReader(string(text)), "p.csv", dataset.Options{Ingredients: in})
		if err != nil {
			t.Fatalf("%q: %v\n%s", names, err, text)
		}
		e := back.Entries[0]
		if len(back.Entries) != 1 || back.Labels[0] != names[2] || e.ID != names[3] || e.Recipe != names[4] || e.Values[0] != names[5] || len(e.Parts) != 2 {
			t.Fatalf("%q is read as %q, %+v\n%s", names, back.Labels, back.Entries, text)
		}
		if again, err := back.EncodeCSV(); err != nil || string(again) != string(text) {
			t.Fatalf("%v: %s is written as %s", err, text, again)
		}
	}
}

// TestCheckCell: what no table can hold is named.
func TestCheckCell(t *testing.T) {
	long := strings.Repeat("n", 1<<16)
	for text, want := range map[string]string{
		"": "", "a\nb\tc": "", long: "", "\u202e\u2028": "", "=" + long[:1<<16-2]: "",
		long + "n": "has 65537 bytes", "=" + long[1:]: "has 65537 bytes", "\x00": "has the control character U+0000", "a\rb": "U+000D", "caf\xe9": "is no text in UTF-8",
	} {
		message, hint := dataset.CheckCell(text)
		if want == "" && message != "" || !strings.HasPrefix(message, want) && !strings.HasSuffix(message, want) || (message == "") != (hint == "") || !utf8.ValidString(message) {
			t.Errorf("%.20q: %q, %q", text, message, hint)
		}
	}
}

// TestSameFigure: numbers that are written otherwise are the same.
func TestSameFigure(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"1.5", "1,5", true}, {"1.5", "1.50", true}, {"12", "12 %", true}, {"12 %", "12 €", false}, {"1500", "1,500", true}, {"1500", "1.500", false}, {"x", "x", true}, {"x", "y", false}, {"", "", true}, {"", "0", false}, {"5", "6", false}, {"1e2", "100", true},
	} {
		if dataset.SameNumber(c.a, c.b) != c.same || dataset.SameNumber(c.b, c.a) != c.same {
			t.Errorf("%q and %q: %v", c.a, c.b, !c.same)
		}
	}
}
