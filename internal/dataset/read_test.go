package dataset

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kir/internal/measure"
)

// plain is a book in a form that is easily written down.
type plain struct {
	Ingredients []string
	Recipes     []string // "Kir: Gin 1 cl, Rye 2 dash"
	Labels      []string // "taste: Fresh, , Dry", a value for each recipe
}

func flatten(b *Book) plain {
	var p plain
	p.Ingredients = b.Ingredients.Names
	for _, r := range b.Recipes {
		var parts []string
		for _, part := range r.Parts {
			text := b.Ingredients.Names[part.Ingredient] + " " + part.Amount.String()
			if part.Unit != nil {
				text += " " + part.Unit.Name
			}
			parts = append(parts, text)
		}
		p.Recipes = append(p.Recipes, r.Name+": "+strings.Join(parts, ", "))
	}
	for _, l := range b.Labels {
		var values []string
		for r := range b.Recipes {
			values = append(values, l.Value(r))
		}
		p.Labels = append(p.Labels, l.Name+": "+strings.Join(values, ", "))
	}
	return p
}

func TestRead(t *testing.T) {
	for _, test := range []struct {
		name    string
		file    string
		options Options
		want    plain
	}{
		{
			name: "long",
			file: "recipe,ingredient,amount,unit,taste,note\n" +
				"Kir royal,Champagne,9,cl,Fresh,\n" +
				"Kir royal,Crème de cassis,1,cl,Fresh,\n" +
				"Manhattan,Rye,5,CL,Boozy,old\n" +
				"Manhattan,Bitters,2,Dashes,Boozy,old\n",
			want: plain{
				Ingredients: []string{"Champagne", "Crème de cassis", "Rye", "Bitters"},
				Recipes:     []string{"Kir royal: Champagne 9 cl, Crème de cassis 1 cl", "Manhattan: Rye 5 cl, Bitters 2 dash"},
				Labels:      []string{"taste: Fresh, Boozy", "note: , old"},
			},
		},
		{
			name: "columns in another order and case, spaces, no unit",
			file: " Amount, taste ,INGREDIENT,Recipe\n 9 ,Fresh, Gin ,Kir\n1.50,Fresh,\" Rye\",Kir \n",
			want: plain{
				Ingredients: []string{"Gin", "Rye"},
				Recipes:     []string{"Kir: Gin 9, Rye 1.5"},
				Labels:      []string{"taste: Fresh"},
			},
		},
		{
			name: "byte-order mark and CRLF, no newline at the end",
			file: "\ufeffrecipe,ingredient,amount\r\nKir,Gin,1\r\n\r\nKir,Rye,2",
			want: plain{Ingredients: []string{"Gin", "Rye"}, Recipes: []string{"Kir: Gin 1, Rye 2"}},
		},
		{
			name: "rows of a recipe apart",
			file: "recipe,ingredient,amount\nKir,Gin,1\nSec,Rye,2\nKir,Rye,3\nSec,Gin,4\n",
			want: plain{Ingredients: []string{"Gin", "Rye"}, Recipes: []string{"Kir: Gin 1, Rye 3", "Sec: Rye 2, Gin 4"}},
		},
		{
			name: "amounts of 0 are not used but name an ingredient",
			file: "recipe,ingredient,amount,unit\nKir,Ice,0,\nKir,Gin,1,cl\nKir,Sugar,-0.00,g\n",
			want: plain{Ingredients: []string{"Ice", "Gin", "Sugar"}, Recipes: []string{"Kir: Gin 1 cl"}},
		},
		{
			name: "quotes, commas, several lines",
			file: "recipe,ingredient,amount\n\"The \"\"Kir\"\", royal\",\"Gin,\nvery dry\",1\n",
			want: plain{Ingredients: []string{"Gin,\nvery dry"}, Recipes: []string{"The \"Kir\", royal: Gin,\nvery dry 1"}},
		},
		{
			name: "decomposed accents",
			file: "recipe,ingredient,amount\nA,Cre\u0300me,1\nB,Cr\u00e8me,1\n",
			want: plain{Ingredients: []string{"Cr\u00e8me"}, Recipes: []string{"A: Cr\u00e8me 1", "B: Cr\u00e8me 1"}},
		},
		{
			name: "no unit in one recipe, a unit in another, mass in a third",
			file: "recipe,ingredient,amount,unit\nA,Gin,1,\nA,Rye,3,\nB,Gin,1,cl\nC,Gin,10,g\nC,Rye,1,kg\n",
			want: plain{Ingredients: []string{"Gin", "Rye"}, Recipes: []string{"A: Gin 1, Rye 3", "B: Gin 1 cl", "C: Gin 10 g, Rye 1 kg"}},
		},
		{
			name:    "a list of ingredients gives the order",
			file:    "recipe,ingredient,amount\nKir,Gin,1\n",
			options: Options{Ingredients: mustIngredients("Rye", "Gin")},
			want:    plain{Ingredients: []string{"Rye", "Gin"}, Recipes: []string{"Kir: Gin 1"}},
		},
		{
			name:    "a label of a long book may be named",
			file:    "recipe,ingredient,amount,taste,mood\nKir,Gin,1,dry,good\n",
			options: Options{Labels: []string{" mood "}},
			want:    plain{Ingredients: []string{"Gin"}, Recipes: []string{"Kir: Gin 1"}, Labels: []string{"taste: dry", "mood: good"}},
		},
		{
			name:    "wide",
			file:    "taste,Gin,recipe,Rye,Ice\nFresh,1,Kir,,0\n,0.5,Sec, 2 ,\n",
			options: Options{Labels: []string{"taste"}},
			want: plain{
				Ingredients: []string{"Gin", "Rye", "Ice"},
				Recipes:     []string{"Kir: Gin 1", "Sec: Gin 0.5, Rye 2"},
				Labels:      []string{"taste: Fresh, "},
			},
		},
		{
			name:    "wide with a list of ingredients",
			file:    "recipe,Gin,Rye\nKir,1,2\n",
			options: Options{Ingredients: mustIngredients("Rye", "Ice", "Gin")},
			want:    plain{Ingredients: []string{"Rye", "Ice", "Gin"}, Recipes: []string{"Kir: Gin 1, Rye 2"}},
		},
		{
			name:    "wide with a label that is an ingredient's word",
			file:    "recipe,unit,Gin\nKir,x,1\n",
			options: Options{Labels: []string{"unit"}},
			want:    plain{Ingredients: []string{"Gin"}, Recipes: []string{"Kir: Gin 1"}, Labels: []string{"unit: x"}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			book, err := Read(strings.NewReader(test.file), "book.csv", test.options)
			if err != nil {
				t.Fatal(err)
			}
			if got := flatten(book); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got\n%+v\nwant\n%+v", got, test.want)
			}
			checkBook(t, book)
		})
	}
}

// A recipe with many ingredients is read as one with few, doubled pairs included.
func TestReadManyParts(t *testing.T) {
	const n = 120
	var file strings.Builder
	file.WriteString("recipe,ingredient,amount\n")
	for i := range n {
		file.WriteString("A,x" + strings.Repeat("x", i) + ",1\n")
		file.WriteString("B,x" + strings.Repeat("x", i) + ",2\n")
	}
	book, err := Read(strings.NewReader(file.String()), "book.csv", Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkBook(t, book)
	if got := book.RecipeCountsBySize(); got[n] != 2 {
		t.Errorf("the counts are %v, want 2 recipes of %d", got, n)
	}
	for _, i := range []int{0, 23, 24, n - 1} {
		again := file.String() + "A,x" + strings.Repeat("x", i) + ",1\n"
		_, err := Read(strings.NewReader(again), "book.csv", Options{})
		checkError(t, err, "book.csv", 2+2*n, 3, `is in "A" twice`, "")
		if want := fmt.Sprintf("first on line %d", 2+2*i); !strings.HasSuffix(err.(*Error).Message, want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestReadFilePlaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "book.csv")
	if err := os.WriteFile(path, []byte("taste,recipe,ingredient,amount\nà,Kir,Gin,1\nà,Kir,Rye,1\nb,Sec,Gin,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	book, err := ReadFile(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if book.File != path {
		t.Errorf("the file is %q, want %q", book.File, path)
	}
	if r := book.Recipes[1]; r.Line != 4 || r.Column != 3 {
		t.Errorf("%s stands at %d:%d, want 4:3", r.Name, r.Line, r.Column)
	}
	if p := book.Recipes[0].Parts[1]; p.Line != 3 {
		t.Errorf("Rye stands on line %d, want 3", p.Line)
	}
}

// checkBook checks what every book keeps.
func checkBook(t *testing.T, b *Book) {
	t.Helper()
	if len(b.Recipes) == 0 {
		t.Error("the book has no recipes")
	}
	names := make(map[string]bool)
	for _, r := range b.Recipes {
		if r.Name == "" || r.Name != NormalizeName(r.Name) || names[r.Name] {
			t.Errorf("the name %q is empty, not normal or doubled", r.Name)
		}
		names[r.Name] = true
		if r.Line < 1 || r.Column < 1 {
			t.Errorf("%s stands at %d:%d", r.Name, r.Line, r.Column)
		}
		if len(r.Parts) == 0 {
			t.Errorf("%s has no parts", r.Name)
		}
		used := make(map[int32]bool)
		for _, p := range r.Parts {
			if used[p.Ingredient] || int(p.Ingredient) >= b.Ingredients.Len() || p.Ingredient < 0 {
				t.Errorf("%s uses ingredient %d twice, or there is no such", r.Name, p.Ingredient)
			}
			used[p.Ingredient] = true
			if p.Amount.IsZero() || p.Base().Sign() <= 0 || !(p.Amount.Float64() > 0) || math.IsInf(p.Amount.Float64(), 0) {
				t.Errorf("%s has the amount %v, base amount %v", r.Name, p.Amount, p.Base())
			}
			if p.kind() != r.Parts[0].kind() {
				t.Errorf("%s mixes kinds", r.Name)
			}
		}
		n := len(r.Parts)
		for _, total := range []int{n, n + 1, 3*n + 7, 1000 + n} {
			units, err := Closure(r.Parts, total)
			if err != nil {
				t.Errorf("%s: %v", r.Name, err)
				continue
			}
			sum := 0
			for _, x := range units {
				if x < 1 {
					t.Errorf("%s: %v has a part below 1", r.Name, units)
				}
				sum += x
			}
			if sum != total {
				t.Errorf("%s: %v adds up to %d, want %d", r.Name, units, sum, total)
			}
		}
	}
	for i, name := range b.Ingredients.Names {
		if j, ok := b.Ingredients.Index(name); !ok || j != i || name == "" {
			t.Errorf("ingredient %d, %q, is found at %d, %v", i, name, j, ok)
		}
	}
	for _, l := range b.Labels {
		if !slices.IsSorted(l.Classes) || len(slices.Compact(slices.Clone(l.Classes))) != len(l.Classes) {
			t.Errorf("the classes of %s are not sorted or not distinct: %q", l.Name, l.Classes)
		}
		counts := make([]int, len(l.Classes))
		missing := 0
		for r := range b.Recipes {
			if class := l.ClassOf[r]; class >= 0 {
				counts[class]++
			} else {
				missing++
			}
		}
		if !slices.Equal(counts, l.Counts) || missing != l.MissingCount() || slices.Contains(counts, 0) {
			t.Errorf("the classes of %s are counted as %v and %d missing, want %v and %d", l.Name, l.Counts, l.MissingCount(), counts, missing)
		}
	}
	total := 0
	for n, c := range b.RecipeCountsBySize() {
		if n == 0 && c != 0 {
			t.Error("a recipe uses no ingredient")
		}
		total += c
	}
	if total != len(b.Recipes) {
		t.Errorf("%v counts %d recipes of %d", b.RecipeCountsBySize(), total, len(b.Recipes))
	}
}

func TestLabels(t *testing.T) {
	book, err := Read(strings.NewReader("recipe,Gin,taste,score,year\nA,1,Sour,3.5,1930\nB,1,Fresh,,1916\nC,1,,-1e1,IBA\nD,1,Fresh,2,1930\n"), "book.csv",
		Options{Labels: []string{"taste", "score", "year"}})
	if err != nil {
		t.Fatal(err)
	}
	checkBook(t, book)
	taste, ok := book.Label("taste")
	if !ok || !slices.Equal(taste.Classes, []string{"Fresh", "Sour"}) || !slices.Equal(taste.Counts, []int{2, 1}) || !slices.Equal(taste.ClassOf, []int32{1, 0, -1, 0}) {
		t.Errorf("taste is %+v", taste)
	}
	if _, ok := book.Label("mood"); ok {
		t.Error("there is a label mood")
	}
	score, _ := book.Label("score")
	numbers, err := score.Numbers()
	if err != nil || len(numbers) != 4 || numbers[0] != 3.5 || !math.IsNaN(numbers[1]) || numbers[2] != -10 || numbers[3] != 2 {
		t.Errorf("the scores are %v, %v", numbers, err)
	}
	_, err = taste.Numbers()
	checkError(t, err, "book.csv", 2, 5, `"Sour" is not a number, so "taste"`, "")
	year, _ := book.Label("year")
	_, err = year.Numbers()
	checkError(t, err, "book.csv", 4, 11, `"IBA" in "year" is not a number, while 3 others are`, "")
}

func TestIngredients(t *testing.T) {
	in, err := ReadIngredients(strings.NewReader("cost,name,group,abv,ph\n3.5,Gin,spirit,40,N/A\n,Ice,,0,7\n-1, Crème ,mixer,low,?\n"), "list.csv", Layout{})
	if err != nil {
		t.Fatal(err)
	}
	if in.File != "list.csv" || in.Len() != 3 || !slices.Equal(in.Names, []string{"Gin", "Ice", "Crème"}) {
		t.Errorf("got %+v", in)
	}
	if i, ok := in.Index("Cre\u0300me"); !ok || i != 2 {
		t.Errorf("Crème is number %d, %v", i, ok)
	}
	cost, ok := in.Attribute("cost")
	if !ok {
		t.Fatal("there is no cost")
	}
	numbers, err := cost.Numbers()
	if err != nil || numbers[0] != 3.5 || !math.IsNaN(numbers[1]) || numbers[2] != -1 {
		t.Errorf("the costs are %v, %v", numbers, err)
	}
	numbers[0] = 0
	if again, _ := cost.Numbers(); again[0] != 3.5 {
		t.Error("the caller can change the costs")
	}
	if line, column := cost.CellPosition(1); line != 3 || column != 1 {
		t.Errorf("the cost of Ice is at %d:%d", line, column)
	}
	group, _ := in.Attribute("group")
	if !slices.Equal(group.Values, []string{"spirit", "", "mixer"}) {
		t.Errorf("the groups are %q", group.Values)
	}
	abv, _ := in.Attribute("abv")
	_, err = abv.Numbers()
	checkError(t, err, "list.csv", 4, 18, `"low" is not a number, so "abv"`, "leave it empty")
	ph, _ := in.Attribute("ph")
	if numbers, err := ph.Numbers(); err != nil || !math.IsNaN(numbers[0]) || numbers[1] != 7 || !math.IsNaN(numbers[2]) {
		t.Errorf("the pH are %v, %v: what is said not to be known is not known", numbers, err)
	}
	if _, ok := in.Attribute("name"); ok {
		t.Error("the name is an attribute")
	}

	_, err = NewIngredients("Gin", " Gin")
	if err == nil || !strings.Contains(err.Error(), `1 and 2 are both called "Gin"`) {
		t.Errorf("got %v", err)
	}
	if _, err = NewIngredients("Gin", " "); err == nil || !strings.Contains(err.Error(), "ingredient 2 has no name") {
		t.Errorf("got %v", err)
	}
}

func TestNumber(t *testing.T) {
	for text, want := range map[string]float64{"1": 1, "-2.5": -2.5, "+1e-3": 0.001, ".5": 0.5, "0": 0} {
		if got, ok := measure.ParseNumber(text); !ok || got != want {
			t.Errorf("%q is %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "x", "inf", "NaN", "0x1p3", "1_000", "1e999", "--1", "e", "1 "} {
		if got, ok := measure.ParseNumber(text); ok {
			t.Errorf("%q is %v", text, got)
		}
	}
}

// TestTextsCostAlike: a text that might be an amount in an unknown unit costs hardly more than any
// other: nobody asks yet which unit was meant.
func TestTextsCostAlike(t *testing.T) {
	cost := func(cell string) float64 {
		text := "recipe,Gin,Rum,note\n"
		for r := range 50 {
			text += fmt.Sprintf("r%d,1,2,%s %d\n", r, cell, r)
		}
		return testing.AllocsPerRun(2, func() {
			if _, err := Read(strings.NewReader(text), "b.csv", Options{}); err != nil {
				t.Fatal(err)
			}
		})
	}
	if plain, unit := cost("ab"), cost("4 ab"); unit > 2*plain {
		t.Errorf("allocations are %v, and %v of what may have a unit", plain, unit)
	}
}
