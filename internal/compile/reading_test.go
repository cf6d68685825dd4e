package compile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/measure"
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
		for _, name := range slices.Concat(w.Conditions, w.Results, w.Either) { // below the name of a group
			if slices.Contains(known, n.Name) {
				break
			}
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
	return dataset.IngredientColumn, !slices.Contains(w.Either, column)
}

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

const (
	maxReadings = 60 // number of readings of a table, with answers, that a truth looks at
	maxAnswers  = 8  // number of answers one after the other
)

// readAsInit reads a table and answers questions until the reading is right, or no answer is left to try. The author knows
// which of the answers offered is true: readAsInit tries them one after the other.
func (w *tableTruth) readAsInit(text []byte, file string) (outcome, why string) {
	table := Table{Name: file, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(string(text))), nil }}
	seen := map[string]bool{"": true}
	var try func(a answeredTable, depth int) bool
	try = func(a answeredTable, depth int) bool {
		r := w.readWith(table, a)
		if depth == 0 {
			outcome, why = r.outcome, r.why
		}
		if r.outcome == rightAsMade {
			if depth > 0 {
				outcome, why = rightAnswered, a.key()
			}
			return true
		}
		for _, next := range r.answers {
			key := next.key()
			if seen[key] || len(seen) > maxReadings || depth > maxAnswers {
				continue
			}
			seen[key] = true
			if try(next, depth+1) {
				return true
			}
		}
		return false
	}
	try(answeredTable{}, 0)
	return outcome, why
}

// An answeredTable is a table with answers to what kir asked about it.
type answeredTable struct {
	layout        dataset.Layout
	units         []dataset.Fix // sizes of units
	set, measured []string
}

// key tells tables with other answers apart.
func (a answeredTable) key() string {
	text := a.layout.YAML()
	for _, f := range a.units {
		text += " " + f.Setting()
	}
	return strings.TrimSpace(text + strings.Join(a.set, ",") + strings.Join(a.measured, ";"))
}

// with returns the table with the answer that a fix is.
func (a answeredTable) with(f dataset.Fix) answeredTable {
	a.layout = a.layout.Merge(f.Layout)
	if f.Unit != "" {
		a.units = append(slices.Clip(a.units), f)
	}
	return a
}

// A tableReading is what kir read, as its author sees it, and the tables with one answer more.
type tableReading struct {
	outcome, why string
	answers      []answeredTable
}

// readWith reads a table with answers.
func (w *tableTruth) readWith(table Table, a answeredTable) (r tableReading) {
	d := &Draft{Table: table.Name, SetColumns: a.set, MeasuredColumns: a.measured}
	o := dataset.Options{Layout: a.layout}
	for _, f := range a.units {
		if o.Units == nil {
			o.Units = measure.DefaultUnits()
		}
		var err error
		if o.Units, err = o.Units.With(f.Unit, f.Size); err != nil {
			return tableReading{outcome: refused, why: err.Error()}
		}
	}
	var wrong map[string]string
	var questions string
	err := d.ReadTable(table, o)
	if err != nil {
		wrong = make(map[string]string)
		for _, column := range slices.Concat(w.Conditions, w.Results, w.Ignored) {
			wrong[column] = "refused"
		}
		for _, e := range inputerr.All(err) {
			questions += e.Error() + "\n"
			_, fixes := dataset.Fixes(e)
			for _, f := range fixes {
				r.answers = append(r.answers, a.with(f))
			}
		}
	} else {
		if wrong = w.differences(d); len(wrong) == 0 {
			return tableReading{outcome: rightAsMade}
		}
		_, notes := d.Contents()
		for _, n := range notes {
			if n.Setting != "" || n.Doubtful {
				questions += n.Message + "\n"
			}
			switch encoding, isEncoding := strings.CutPrefix(n.Setting, "encoding: "); {
			case isEncoding:
				for _, other := range Encodings {
					if other != encoding {
						r.answers = append(r.answers, a.with(dataset.Fix{Layout: dataset.Layout{Encoding: other}}))
					}
				}
			case n.QuestionableRow != "" && n.RowLeftOut:
				r.answers = append(r.answers, a.with(dataset.Fix{Layout: dataset.Layout{Including: []string{n.QuestionableRow}}}))
			case n.QuestionableRow != "":
				r.answers = append(r.answers, a.with(dataset.Fix{Layout: dataset.Layout{Without: []string{n.QuestionableRow}}}))
			}
		}
	}
	next, answered := a, false
	next.layout.Columns = maps.Clone(next.layout.Columns)
	var silent []string
	for column, how := range wrong {
		role, known := w.role(column)
		author := column
		column = readName(author, questions)
		if !known || !strings.Contains(questions, inputerr.Quote(column)) {
			silent = append(silent, author+": "+how)
			continue
		}
		if next.layout.Columns[column] != role {
			next.layout, answered = next.layout.Merge(dataset.Layout{Columns: map[string]dataset.Role{column: role}}), true
		}
		if slices.Contains(w.Conditions, author) && !slices.Contains(next.set, column) {
			next.set, answered = append(slices.Clip(next.set), column), true
		}
		if slices.Contains(w.Results, author) && !slices.Contains(next.measured, column) {
			next.measured, answered = append(slices.Clip(next.measured), column), true
		}
	}
	slices.Sort(next.set)
	slices.Sort(next.measured)
	if answered {
		r.answers = append([]answeredTable{next}, r.answers...)
	}
	if err == nil && len(d.Book.Recipes) < w.Recipes && len(a.layout.Without) > 0 {
		r.answers = nil // a recipe was left out
	}
	slices.Sort(silent)
	switch {
	case err != nil:
		r.outcome = refused
		r.why, _, _ = strings.Cut(questions, "\n")
	case len(silent) == 0:
		r.outcome, r.why = asked, fmt.Sprint(wrong)
	default:
		r.outcome, r.why = misread, strings.Join(silent, "; ")
	}
	return r
}

// unread are the tables that are not read as their authors mean them, and why.
var unread = map[string]string{
	"paint_batches": "water is added in two stages; it is refused by its cell, as rows of one ingredient are not summed",
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
