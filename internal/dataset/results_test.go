package dataset_test

import (
	"bytes"
	"strings"
	"testing"

	"kir/internal/dataset"
)

const logged = `id,round,recipe,ingredient,amount,unit,liking,haze,status,time
0-1,0,house,Gin,40,ml,5.5,,made,2026-01-02T08:00:00Z
0-1,0,house,Tonic,110,ml,5.5,,made,2026-01-02T08:00:00Z
1-1,1,1-1,Gin,30,ml,7,2,made,2026-01-03T08:00:00Z
1-1,1,1-1,Tonic,120,ml,7,2,made,2026-01-03T08:00:00Z
1-2,1,1-2,Gin,150,ml,,,failed,2026-01-03T08:00:01Z
1-1,1,1-1,Gin,30,ml,8,2,made,2026-01-03T08:00:02Z
1-1,1,1-1,Lime,120,ml,8,2,made,2026-01-03T08:00:02Z
0-1,0,,,,,,,withdrawn,2026-01-04T08:00:00Z
`

// TestResults: of the entries of an id the last holds, as one whole; what is written is
// what was read.
func TestResults(t *testing.T) {
	r, err := dataset.ReadResults(strings.NewReader(logged), "p.results.csv", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Entries) != 5 || strings.Join(r.Labels, " ") != "liking haze" {
		t.Fatalf("%d entries, labels %v", len(r.Entries), r.Labels)
	}
	current := r.CurrentEntries()
	if len(current) != 2 || current[0].ID != "1-1" || current[1].Status != dataset.StatusFailed {
		t.Fatalf("%+v", current)
	}
	if got := r.Value(&current[0], "liking"); got != "8" || len(current[0].Parts) != 2 {
		t.Errorf("liking %q of %d parts", got, len(current[0].Parts))
	}
	if name := r.Ingredients.Names[current[0].Parts[1].Ingredient]; name != "Lime" {
		t.Errorf("the correction has %s", name)
	}
	text, err := r.EncodeCSV()
	if err != nil || string(text) != logged {
		t.Errorf("%v, written as\n%s", err, text)
	}
	b := r.Book()
	liking, _ := b.Label("liking")
	numbers, err := liking.Numbers()
	if err != nil || len(numbers) != 2 || numbers[0] != 8 || numbers[1] == numbers[1] {
		t.Errorf("likings %v, %v", numbers, err)
	}
	r.AddLabel("ph")
	if text, err = r.EncodeCSV(); err != nil || !bytes.Contains(text, []byte("liking,haze,ph,status")) || !bytes.Contains(text, []byte("5.5,,,made")) {
		t.Errorf("%v, written as\n%s", err, text)
	}
	if b, err = dataset.Read(strings.NewReader(logged), "p.results.csv", dataset.Options{}); err != nil || b.Results == nil || len(b.Recipes) != 2 {
		t.Errorf("read as a book: %+v, %v", b, err)
	}
}

// TestResultsSpreadsheet: a file that a spreadsheet wrote anew reads the same, and what
// begins as a formula does is no formula.
func TestResultsSpreadsheet(t *testing.T) {
	other := strings.ReplaceAll(strings.ReplaceAll(logged, ",", ";"), "5.5", "5,5")
	r, err := dataset.ReadResults(strings.NewReader("\ufeff"+strings.ReplaceAll(other, "\n", "\r\n")), "p.results.csv", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := r.EncodeCSV(); err != nil || string(text) != logged {
		t.Errorf("%v, written as\n%s", err, text)
	}
	hostile := strings.ReplaceAll(strings.ReplaceAll(logged, "Lime", "'=1+1"), ",haze,", ",'@haze,")
	if r, err = dataset.ReadResults(strings.NewReader(hostile), "p.results.csv", dataset.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, ok := r.Ingredients.Index("=1+1"); !ok || r.Labels[1] != "@haze" {
		t.Errorf("ingredients %q, labels %q", r.Ingredients.Names, r.Labels)
	}
	if text, err := r.EncodeCSV(); err != nil || string(text) != hostile {
		t.Errorf("%v, written as\n%s", err, text)
	}
}

// TestResultsFaults: what is wrong in a file of results has its place.
func TestResultsFaults(t *testing.T) {
	in, err := dataset.NewIngredients("Gin", "Tonic", "Lime")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"1-2,1,1-2,Gin,150", ",1,1-2,Gin,150", "p.csv:6:1: a result without an id"},
		{"1-2,1,", "1-2,one,", `p.csv:6:5: the round is "one"`},
		{",failed,", ",broken,", `the status is "broken"`},
		{"Lime", "Lyme", `p.csv:8:11: "Lyme" is not one of the 3 ingredients`},
		{"1-2,1,1-2,Gin,150,ml", "1-2,1,1-2,Gin,-1,ml", "p.csv:6:15: negative amount"},
		{"1-2,1,1-2,Gin,150,ml", "1-2,1,1-2,Gin,0,ml", `p.csv:6: the amounts of "1-2" add up to 0`},
		{"1-2,1,1-2,Gin,150,ml", "1-2,1,1-2,Gin,150,mx", `p.csv:6:19: unknown unit "mx"`},
		{"1-2,1,1-2,Gin,150,ml", "1-2,1,1-2,,150,ml", "p.csv:6:11: an ingredient without a name"},
		{"Tonic,120,ml,7,2", "Tonic,120,ml,6,2", `p.csv:5:24: "liking" of "1-1" changes from "7" on line 4 to "6"`},
		{"Tonic,120,ml,7,2,made", "Tonic,120,ml,7,2,failed", "the status of \"1-1\" changes from made on line 4"},
		{"Tonic,120,ml", "Tonic,120,g", "mixes"},
		{"id,round", "id,runde", "this is no file of results"},
	} {
		_, err := dataset.ReadResults(strings.NewReader(strings.Replace(logged, c.old, c.new, 1)), "p.csv", dataset.Options{Ingredients: in})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s for %s: %v, want %s", c.new, c.old, err, c.want)
		}
	}
	if r, err := dataset.ReadResults(strings.NewReader(logged[:strings.Index(logged, "\n")+1]), "p.csv", dataset.Options{}); err != nil || len(r.Entries) != 0 {
		t.Errorf("nothing but a header: %v, %v", r, err)
	}
}

// TestJoin: books are put together by names; a label that one has not is not known there.
func TestJoin(t *testing.T) {
	read := func(text string) *dataset.Book {
		b, err := dataset.Read(strings.NewReader(text), "b.csv", dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	a := read("recipe,ingredient,amount,taste\nA,Gin,2,dry\nA,Lime,1,dry\n")
	b := read("recipe,ingredient,amount,liking,taste\nB,Lime,1,7,sour\nB,Rum,3,7,sour\nC,Gin,1,,\n")
	j := dataset.Join(a, b)
	if got := strings.Join(j.Ingredients.Names, " "); got != "Gin Lime Rum" {
		t.Errorf("ingredients %s", got)
	}
	if len(j.Recipes) != 3 || j.Recipes[1].Parts[1].Ingredient != 2 || j.Recipes[2].Parts[0].Ingredient != 0 {
		t.Errorf("%+v", j.Recipes)
	}
	taste, _ := j.Label("taste")
	liking, _ := j.Label("liking")
	if taste.Value(0) != "dry" || taste.Value(1) != "sour" || taste.Value(2) != "" || liking.Value(0) != "" || liking.Value(1) != "7" || !liking.IsNumeric() || taste.IsNumeric() {
		t.Errorf("taste %+v, liking %+v", taste, liking)
	}
	if _, err := j.Closure(1, 1); err == nil || !strings.HasPrefix(err.Error(), "b.csv:2") {
		t.Errorf("a total that is too small: %v", err)
	}
}
