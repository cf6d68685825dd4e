package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/xuri/excelize/v2"
	"golang.org/x/text/encoding/charmap"

	"kir/internal/dataset"
	"kir/internal/testonly/testmode"
)

// longTable is the cocktail book, with a row for each amount.
func longTable(t *testing.T) [][]string {
	t.Helper()
	f, err := os.Open("../../examples/cocktails/recipes.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// wideTable is the cocktail book in units of a total of 1,000, with a row for each
// drink, and the shares as cell gives them.
func wideTable(t *testing.T, cell func(units int) string) [][]string {
	t.Helper()
	book, err := dataset.ReadFile(t.Context(), "../../examples/cocktails/recipes.csv", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows := [][]string{append([]string{"drink", "taste", "rating"}, book.Ingredients.Names...)}
	for i, r := range book.Recipes {
		row := make([]string, 3+book.Ingredients.Len())
		row[0], row[1], row[2] = r.Name, book.Labels[0].Value(i), strconv.Itoa(1+(i*7)%5)
		units, err := book.Closure(i, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for k, p := range r.Parts {
			row[3+p.Ingredient] = cell(units[k])
		}
		rows = append(rows, row)
	}
	return rows
}

// joined writes rows with a mark between columns.
func joined(t *testing.T, rows [][]string, mark rune) string {
	t.Helper()
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Comma = mark
	if err := w.WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// mapped returns rows with another text in some columns below the header.
func mapped(rows [][]string, header []string, change func(row []string) []string) [][]string {
	out := [][]string{header}
	for _, row := range rows[1:] {
		out = append(out, change(append([]string{}, row...)))
	}
	return out
}

// workbookOf writes rows into a workbook, numbers as numbers.
func workbookOf(t *testing.T, rows [][]string, format string) []byte {
	t.Helper()
	f := excelize.NewFile()
	style, err := f.NewStyle(&excelize.Style{CustomNumFmt: &format})
	if err != nil {
		t.Fatal(err)
	}
	for r, row := range rows {
		for c, text := range row {
			cell, err := excelize.CoordinatesToCellName(c+1, r+1)
			if err != nil {
				t.Fatal(err)
			}
			if v, number := strconv.ParseFloat(text, 64); number == nil {
				err = f.SetCellFloat("Sheet1", cell, v, -1, 64)
				if err == nil && c > 2 {
					err = f.SetCellStyle("Sheet1", cell, cell, style)
				}
			} else if text != "" {
				err = f.SetCellStr("Sheet1", cell, text)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// From each of these tables kir init writes a problem that kir sample samples as
// it is, with a shortlist.
func TestInit(t *testing.T) {
	table := longTable(t)
	comma := func(text string) string { return strings.ReplaceAll(text, ".", ",") }
	german := mapped(table, []string{"Rezept", "Zutat", "Menge", "Einheit", "Geschmack", "Anlass"}, func(row []string) []string {
		row[2] = comma(row[2])
		return row
	})
	latin, err := charmap.Windows1252.NewEncoder().String(joined(t, german, ';'))
	if err != nil {
		t.Fatal(err)
	}
	var wide16 []byte
	for _, u := range utf16.Encode([]rune("\ufeff" + joined(t, german, '\t'))) {
		wide16 = append(wide16, byte(u), byte(u>>8))
	}
	last := ""
	sparse := mapped(table, table[0], func(row []string) []string {
		if written, ok := map[string]string{"4.5": "4 ½", "1.5": "1-1/2", "3": "2.5–3.5", "2": "ca. 2"}[row[2]]; ok {
			row[2] = written
		}
		if row[0] == last {
			row[0], row[4], row[5] = "", "", ""
		} else {
			last = row[0]
		}
		return row
	})
	noted := mapped(table, append(append([]string{}, table[0]...), "note", "line"), func(row []string) []string {
		return append(row, "from "+row[1], row[2])
	})
	ingredients := []string{"name;group;Preis"}
	seen := make(map[string]bool)
	for _, row := range table[1:] {
		if !seen[row[1]] {
			seen[row[1]] = true
			ingredients = append(ingredients, fmt.Sprintf("%s;%s;%d,50 €", row[1], []string{"spirit", "mixer", "juice"}[len(row[1])%3], 1+len(row[1])%20))
		}
	}
	plain := func(units int) string { return strconv.Itoa(units) }
	share := func(units int) string { return strconv.FormatFloat(float64(units)/1000, 'f', -1, 64) }
	// That a problem can be sampled and has a shortlist shows in few draws and a short search. kir
	// check tries more than whether the rules leave something: the short form does so of one table.
	sampled := testmode.Pick([]string{"--draws", "2000"}, []string{"--draws", "50", "--warmup", "50", "--effort", "0.1"})
	for k, test := range []struct {
		name, file string
		data       []byte
		args       []string
		say        []string // in the problem file
	}{
		{"the book", "recipes.csv", []byte(joined(t, table, ',')), nil, []string{"recipes: recipes.csv", "taste: {learn: {label: taste, want: Fresh}} # \"Fresh\" 33", "amount: {of: Gin, min: 250, max: 727}"}},
		{"German", "bar.csv", []byte(latin), nil, []string{"encoding: windows-1252", "Geschmack: {learn: {label: Geschmack, want: Fresh}}", "the comma is read as the decimal mark"}},
		{"UTF-16 and tabs", "bar.txt", wide16, nil, []string{"recipes: bar.txt"}},
		{"wide", "wide.csv", []byte(joined(t, wideTable(t, plain), ',')), nil, []string{"columns: {rating: label}", "rating: {learn: {label: rating, maximize: true}}"}},
		{"workbook", "bar.xlsx", workbookOf(t, table, "0.0"), nil, []string{"recipes: bar.xlsx"}},
		{"wide workbook of shares", "shares.xlsx", workbookOf(t, wideTable(t, share), "0%"), nil, []string{"columns: {rating: label}"}},
		{"fractions, ranges, names once", "sparse.csv", []byte(joined(t, sparse, ',')), nil, []string{"ranges are read as their middle"}},
		{"columns that change", "noted.csv", []byte(joined(t, noted, ',')), nil, []string{"columns: {line: ignore, note: ignore}", `# Left out: "line", "note".`}},
		{"a table of ingredients", "recipes.tsv", []byte(joined(t, table, '\t')), []string{"--ingredients", "stock.csv"}, []string{"ingredients: stock.csv", "group: {of: {group: juice}", "limit: {attribute: Preis, max:"}},
		{"a title above", "title.csv", []byte("Our bar in 2024;;;;;\n;;;;;\n" + joined(t, german, ';')), nil, []string{"above the header"}},
	} {
		if k%testmode.Pick(1, 4) != 0 {
			continue
		}
		tried := []string{"check", "all.yaml"}
		if !testmode.Enabled() && k > 0 {
			tried = []string{"sample", "all.yaml", "-o", "all", "--draws", "10", "--warmup", "10", "--effort", "0", "--no-report"}
		}
		t.Run(test.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for name, data := range map[string][]byte{test.file: test.data, "stock.csv": []byte(strings.Join(ingredients, "\n"))} {
				if err := os.WriteFile(name, data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var stdout, stderr bytes.Buffer
			if err := execute(patient(t.Context()), append([]string{"init", test.file}, test.args...), &stdout, &stderr); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(stdout.String(), "69 recipes, 63 ingredients") {
				t.Errorf("it says %s", stdout.String())
			}
			text, err := os.ReadFile("problem.yaml")
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range test.say {
				if !strings.Contains(string(text), want) {
					t.Errorf("the problem is\n%s\nwant %q in it", text, want)
				}
			}
			stdout.Reset()
			if err := execute(patient(t.Context()), append([]string{"sample", "problem.yaml", "-o", "run", "--json"}, sampled...), &stdout, &stderr); err != nil {
				t.Fatal(err)
			}
			var summary struct {
				Best []json.RawMessage `json:"best"`
			}
			if err := json.Unmarshal(stdout.Bytes(), &summary); err != nil {
				t.Fatal(err)
			}
			if len(summary.Best) == 0 {
				t.Errorf("there is no shortlist in %.2000s", stdout.String())
			}
			// All that is commented out works once it is not.
			var rules []string
			for line := range strings.Lines(string(text)) {
				if strings.HasPrefix(line, "#   - ") && !strings.Contains(line, "require:") && !strings.Contains(line, "exclude:") || strings.HasPrefix(line, "# constraints:") {
					line = strings.TrimPrefix(line, "# ")
					line = strings.TrimPrefix(line, "#")
				}
				rules = append(rules, line)
			}
			if err := os.WriteFile("all.yaml", []byte(strings.Join(rules, "")), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := execute(patient(t.Context()), tried, &stdout, &stderr); err != nil {
				t.Errorf("with all its rules: %v\n%s", err, strings.Join(rules, ""))
			}
			// What is there is not overwritten, and nothing is left beside it.
			if err := execute(patient(t.Context()), append([]string{"init", test.file}, test.args...), &stdout, &stderr); err == nil {
				t.Error("the problem was overwritten")
			}
			if left, err := filepath.Glob(".kir-*.yaml"); err != nil || len(left) > 0 {
				t.Errorf("left over: %v, %v", left, err)
			}
		})
	}
}
