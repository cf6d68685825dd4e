package compile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kir/internal/dataset"
	"kir/internal/inputerr"
)

// A tableTruth is what the author of a table meant by it.
type tableTruth struct {
	Recipes int `json:"recipes"`
	First   struct {
		Name  string             `json:"name"`  // of the first recipe; * accepts any name
		Parts map[string]float64 `json:"parts"` // its amounts in percent
	} `json:"first"`
	Conditions []string           `json:"conditions"`
	Results    []string           `json:"results"`
	Ignored    []string           `json:"ignored"`    // such as a sum
	Either     []string           `json:"either"`     // columns that may have any role but that of an ingredient
	Numbers    map[string]float64 `json:"numbers"`    // numeric results, with the first recipe's number
	Objectives []string           `json:"objectives"` // those that may be offered; none may always be
}

// wholeTable is the place of an error that is not about one column.
const wholeTable = "*"

// differences returns what a draft understood otherwise than the author: the columns concerned, or wholeTable.
func (w *tableTruth) differences(d *Draft) map[string]string {
	wrong := make(map[string]string)
	b := d.Book
	if b == nil {
		return map[string]string{wholeTable: "taken for a history of prices"}
	}
	if len(b.Recipes) != w.Recipes {
		wrong[wholeTable] = fmt.Sprintf("%d recipes instead of %d", len(b.Recipes), w.Recipes)
	} else if w.First.Name != "*" && b.Recipes[0].Name != w.First.Name {
		wrong[wholeTable] = fmt.Sprintf("the first recipe is %q instead of %q", b.Recipes[0].Name, w.First.Name)
	}
	for _, name := range b.Ingredients.Names {
		for _, column := range slices.Concat(w.Conditions, w.Results, w.Ignored, w.Either) {
			if bare, _ := dataset.SplitHeaderUnit(column); name == column || name == bare || name == strings.TrimSpace(strings.TrimSuffix(column, "%")) {
				wrong[column] = "an ingredient"
			}
		}
	}
	if len(wrong) == 0 {
		w.checkFirst(b, wrong)
	}
	for _, l := range w.asNamed(b.Labels) {
		switch set := d.isCondition(l.readName); {
		case slices.Contains(w.Either, l.Name), slices.Contains(w.Results, strings.TrimSuffix(l.Name, " sd")), w.First.Name == "*" && w.isNameless(l.Name):
		case slices.Contains(w.Conditions, l.Name) && !set:
			wrong[l.Name] = "measured"
		case slices.Contains(w.Results, l.Name) && set:
			wrong[l.Name] = "a condition"
		case slices.Contains(w.Ignored, l.Name) || !slices.Contains(w.Conditions, l.Name) && !slices.Contains(w.Results, l.Name):
			wrong[l.Name] = "a label"
		}
		if number, ok := w.Numbers[l.Name]; ok {
			if all, _, err := l.Measurements(); err != nil || all[0] != number {
				wrong[l.Name] = "not numbers"
			}
		}
	}
	for _, name := range slices.Concat(w.Conditions, w.Results) {
		if !slices.ContainsFunc(w.asNamed(b.Labels), func(l namedLabel) bool { return l.Name == name }) && wrong[name] == "" {
			wrong[name] = "left out"
		}
	}
	objective := ""
	for _, t := range d.Targets() {
		if t.Objective.Direction != NoDirection && t.Objective.Direction != "" {
			objective = t.Key
			if bare, _ := dataset.SplitHeaderUnit(objective); slices.Contains(w.Objectives, bare) {
				objective = bare
			}
		}
	}
	if objective != "" && !slices.Contains(w.Objectives, objective) {
		wrong["objective"] = fmt.Sprintf("%q", objective)
	}
	return wrong
}

// A namedLabel is a label under the name that the author gives it.
type namedLabel struct {
	dataset.Label
	readName string // the name as read, which has the unit of a row of units, too
}

// asNamed returns labels under the names that the author gives them: without the unit that stands in a row of its own.
func (w *tableTruth) asNamed(labels []dataset.Label) (named []namedLabel) {
	known := slices.Concat(w.Conditions, w.Results, w.Ignored, w.Either)
	for _, l := range labels {
		n := namedLabel{l, l.Name}
		stem, isSpread := strings.CutSuffix(l.Name, " sd")
		if bare, _ := dataset.SplitHeaderUnit(stem); !slices.Contains(known, stem) && slices.Contains(known, bare) {
			if n.Name = bare; isSpread {
				n.Name += " sd"
			}
		}
		for _, name := range slices.Concat(w.Conditions, w.Results) { // below the name of a group
			bare, _ := dataset.SplitHeaderUnit(stem)
			if cut, _, ok := strings.Cut(stem, " ("+name); ok && cut != "" { // a group with a bracket in its name
				bare = cut
			}
			if rest, ok := strings.CutSuffix(bare, " "+name); ok && rest != "" && !slices.Contains(known, stem) {
				if n.Name = name; isSpread {
					n.Name += " sd"
				}
			}
		}
		named = append(named, n)
	}
	return named
}

// isNameless reports whether the author does not mention a column: that of names that several recipes share.
func (w *tableTruth) isNameless(column string) bool {
	return !slices.Contains(slices.Concat(w.Conditions, w.Results, w.Ignored), column)
}

// checkFirst compares the amounts of the first recipe.
func (w *tableTruth) checkFirst(b *dataset.Book, wrong map[string]string) {
	whole := 0.0
	parts := make(map[string]float64)
	for _, p := range b.Recipes[0].Parts {
		base, _ := p.Base().Float64()
		parts[b.Ingredients.Names[p.Ingredient]] = base
		whole += base
	}
	for name, share := range w.First.Parts {
		if math.Abs(100*parts[name]/whole-share) > 0.06 {
			wrong[name] = fmt.Sprintf("%.4g %% instead of %.4g", 100*parts[name]/whole, share)
		}
		delete(parts, name)
	}
	for name := range parts {
		wrong[name] = "not in the first recipe"
	}
}

// role returns the role that the author gives a column.
func (w *tableTruth) role(column string) (dataset.Role, bool) {
	switch {
	case slices.Contains(w.Ignored, column):
		return dataset.IgnoredColumn, true
	case slices.Contains(w.Conditions, column), slices.Contains(w.Results, column):
		return dataset.LabelColumn, true
	}
	if _, ok := w.First.Parts[column]; ok {
		return dataset.IngredientColumn, true
	}
	return "", false
}

// unknownFix matches the fix that reads a text among numbers as not known.
var unknownFix = regexp.MustCompile(`unknown: \[([^\]]*)\]`)

// readName returns the name under which questions speak of a column: perhaps with the unit from a row of units.
func readName(column, questions string) string {
	quoted := strings.TrimSuffix(inputerr.Quote(column), `"`)
	if _, behind, ok := strings.Cut(questions, quoted+" ("); ok && !strings.Contains(questions, quoted+`"`) {
		unit, _, _ := strings.Cut(behind, `)"`)
		return column + " (" + unit + ")"
	}
	return column
}

// The outcomes of reading a table as kir init does, and answering its questions as the author would.
const (
	rightAsMade   = "right as made"
	rightAnswered = "right after answers"
	refused       = "refused"
	asked         = "wrong, and asked"
	misread       = "misread in silence"
)

// readAsInit reads a table and answers questions until the reading is right, or there are none.
func (w *tableTruth) readAsInit(text []byte, file string) (outcome, why string) {
	d := &Draft{Table: file}
	table := Table{Name: file, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(string(text))), nil }}
	var o dataset.Options
	outcome = rightAsMade
	for range 8 {
		err := d.ReadTable(table, o)
		var wrong map[string]string
		var questions string
		if err != nil {
			for _, e := range inputerr.All(err) {
				questions += e.Error() + "\n"
			}
			wrong = make(map[string]string)
			for _, column := range slices.Concat(w.Conditions, w.Results, w.Ignored) {
				wrong[column] = "refused"
			}
		} else {
			if wrong = w.differences(d); len(wrong) == 0 {
				return outcome, ""
			}
			_, notes := d.Contents()
			for _, n := range notes {
				if n.Setting != "" || n.Doubtful {
					questions += n.Message + "\n"
				}
			}
		}
		answered := false
		var silent []string
		for column, how := range wrong {
			role, known := w.role(column)
			author := column
			column = readName(author, questions)
			isAsked := strings.Contains(questions, inputerr.Quote(column))
			if !isAsked || !known {
				silent = append(silent, column+": "+how)
				continue
			}
			columns := map[string]dataset.Role{column: role}
			if o.Columns[column] != role {
				o.Layout, answered = o.Layout.Merge(dataset.Layout{Columns: columns}), true
			}
			if slices.Contains(w.Conditions, author) && !slices.Contains(d.SetColumns, column) {
				d.SetColumns, answered = append(d.SetColumns, column), true
			}
			if slices.Contains(w.Results, author) && !slices.Contains(d.MeasuredColumns, column) {
				d.MeasuredColumns, answered = append(d.MeasuredColumns, column), true
			}
		}
		for _, m := range unknownFix.FindAllStringSubmatch(questions, -1) {
			o.Layout, answered = o.Layout.Merge(dataset.Layout{Unknown: []string{strings.Trim(m[1], `"`)}}), true
		}
		slices.Sort(silent)
		switch {
		case answered:
			outcome = rightAnswered
		case err != nil:
			first, _, _ := strings.Cut(questions, "\n")
			return refused, first
		case len(silent) == 0:
			return asked, fmt.Sprint(wrong)
		default:
			return misread, strings.Join(silent, "; ")
		}
	}
	return asked, "there is no end of questions"
}

// unread are the tables that are not read as their authors mean them, and why.
var unread = map[string]string{
	"piensos_cebo": "a text in the amounts says that a recipe was not made; the error names it, and --without leaves it out",
}

// TestReadings reads tables of many trades and languages as kir init does: each must be right as made, or after the
// questions about it are answered. KIR_TABLES names another directory of tables and truths.
func TestReadings(t *testing.T) {
	t.Parallel()
	directory := "testdata/tables"
	if other := os.Getenv("KIR_TABLES"); other != "" {
		directory = other
	}
	files, err := filepath.Glob(filepath.Join(directory, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no tables", err)
	}
	counts := make(map[string]int)
	for _, file := range files {
		var truth tableTruth
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &truth); err != nil {
			t.Fatal(file, err)
		}
		table := strings.TrimSuffix(file, ".json") + ".csv"
		if text, err = os.ReadFile(table); errors.Is(err, fs.ErrNotExist) {
			table = strings.TrimSuffix(file, ".json") + ".xlsx"
			text, err = os.ReadFile(table)
		}
		if err != nil {
			t.Fatal(err)
		}
		outcome, why := truth.readAsInit(text, table)
		counts[outcome]++
		name := strings.TrimSuffix(filepath.Base(table), filepath.Ext(table))
		if directory != "testdata/tables" {
			t.Logf("%s: %s: %s", filepath.Base(table), outcome, why)
		}
		if right := outcome == rightAsMade || outcome == rightAnswered; right == (unread[name] != "") && directory == "testdata/tables" {
			t.Errorf("%s: %s: %s", filepath.Base(table), outcome, why)
		}
	}
	score := counts[rightAsMade] + counts[rightAnswered] - 5*counts[misread]
	t.Logf("%d tables: %v, score %d", len(files), counts, score)
}
