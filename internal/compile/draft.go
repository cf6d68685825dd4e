package compile

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"kir/internal/config/schema"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/number"
	"kir/internal/portable"
)

// A Draft has everything from which a first problem file is written.
type Draft struct {
	// Table is the path of the table of recipes, as the file names it, and Layout its layout.
	Table  string
	Layout dataset.Layout

	// Ingredients is the path of the table of ingredients, empty if there is none, and IngredientsLayout
	// its layout.
	Ingredients       string
	IngredientsLayout dataset.Layout

	// Units are sizes of units by name, such as "5 cl", or nil.
	Units map[string]string

	// Book has the recipes of the table, and its ingredients.
	Book *dataset.Book

	// SetColumns are columns that the user says are conditions: set by a trial, and not measured. ReadTable finds
	// others by their names, but those that the user says are measured.
	SetColumns      []string
	MeasuredColumns []string
	foundConditions []string

	// Series is a history of prices or returns of assets. It is set instead of Book.
	Series *dataset.Series

	// Objectives has the objectives by the key of their target, and Bounds whether a constraint is on, by its
	// key. Missing entries have defaults; see Targets and OfferedBounds.
	Objectives map[string]DraftObjective
	Bounds     map[string]bool

	// Batch is the size for which the stock must be enough, such as 700 ml; empty means one recipe. Pairs
	// adds the objective that ingredients go together as in the recipes. NoPairs keeps Finish from adding
	// it.
	Batch          string
	Pairs, NoPairs bool

	// Round is the number of recipes made at a time; 0 means the default.
	Round int
}

// Limits of what a draft shows of a book, to keep it readable.
const (
	draftTotal   = 1000
	draftDoses   = 8
	draftGroups  = 8
	draftClasses = 12
)

// Write returns the problem file. Comments show what is known of the table. The file has the recipes' own
// law of the number of ingredients, the objectives and constraints of the draft, and other suggestions as
// comments.
func (d *Draft) Write() ([]byte, error) {
	if d.Series != nil {
		return (&draftWriter{Draft: d}).writeMarket(), nil
	}
	w := &draftWriter{Draft: d, total: d.total()}
	sizes := d.Book.UsedCounts()
	w.writeLine("%s", schema.Modeline(schema.FileName))
	w.writeLine("# %s, %s: written by kir init to start from.", inputerr.Count(len(d.Book.Recipes), "recipe"), inputerr.Count(d.Book.Ingredients.Len(), "ingredient"))
	w.writeLine("# Check it with kir check, sample it with kir sample. A line behind # does nothing.")
	w.writeLine("name: %s", dataset.YAMLText(strings.TrimSuffix(filepath.Base(d.Table), filepath.Ext(d.Table))))
	w.writeNotes("", d.Book.Notes)
	w.writeColumns()
	w.writeLine("%s", dataset.TableYAML("recipes", filepath.ToSlash(d.Table), d.Layout))
	if len(d.Units) > 0 {
		var sizes []string
		for _, name := range slices.Sorted(maps.Keys(d.Units)) {
			sizes = append(sizes, dataset.YAMLText(name)+": "+dataset.YAMLText(d.Units[name]))
		}
		w.writeLine("units: {%s}", strings.Join(sizes, ", "))
	}
	if d.Ingredients != "" {
		w.writeNotes("", d.Book.Ingredients.Notes)
		w.writeLine("%s", dataset.TableYAML("ingredients", filepath.ToSlash(d.Ingredients), d.IngredientsLayout))
	}
	w.writeLine("total: %d # units in a composition: one is %v %%%s", w.total, 100/float64(w.total), w.finerTotalComment())
	var law []string
	for n, count := range sizes {
		if count > 0 {
			law = append(law, fmt.Sprintf("%d: %d", n, count))
		}
	}
	if len(law) > 20 {
		law = append(law[:20], "...")
	}
	w.writeLine("sparsity: recipes # as many ingredients as the recipes have: {%s}", strings.Join(law, ", "))
	w.writeConditions()
	targets := w.Targets()
	w.writeObjectives(targets)
	if err := w.writeConstraints(targets); err != nil {
		return nil, err
	}
	if n := w.BatchSize(); n != usualBatchSize && slices.ContainsFunc(targets, func(t Target) bool { return t.Objective.Direction != NoDirection && !t.Attribute }) {
		w.writeLine("campaign: {batch: %d} # how many are made at a time", n)
	}
	return []byte(w.text.String()), nil
}

// total returns the total in units: at least ten for each ingredient of the largest recipe.
func (d *Draft) total() int {
	total := draftTotal
	for 10*(len(d.Book.UsedCounts())-1) > total {
		total *= 10
	}
	return total
}

// A draftWriter writes a draft.
type draftWriter struct {
	*Draft
	text  strings.Builder
	total int
}

// writeLine writes a line. Line breaks in names from a table become spaces.
func (w *draftWriter) writeLine(format string, args ...any) {
	w.text.WriteString(strings.NewReplacer("\n", " ", "\r", " ", "\u0085", " ", "\u2028", " ", "\u2029", " ").Replace(fmt.Sprintf(format, args...)))
	w.text.WriteByte('\n')
}

// writeNotes writes the guesses about a table as comments, without its file name.
func (w *draftWriter) writeNotes(indent string, notes []dataset.Note) {
	const most = 12
	for _, n := range notes[:min(len(notes), most)] {
		n.File = ""
		at := ""
		switch {
		case n.Cell != "":
			at = " (" + n.Cell + ")"
		case n.Line > 0:
			at = fmt.Sprintf(" (line %d)", n.Line)
		}
		ask := ""
		if n.Setting != "" {
			ask = " Is that right?"
		}
		w.writeLine("%s# %s%s.%s", indent, n.Message, at, ask)
	}
	if len(notes) > most {
		w.writeLine("%s# %d more things were understood: see kir check.", indent, len(notes)-most)
	}
}

// writeColumns writes comments about the columns.
func (w *draftWriter) writeColumns() {
	var ignored []string
	for name, role := range w.Layout.Columns {
		if role == dataset.IgnoredColumn {
			ignored = append(ignored, name)
		}
	}
	if slices.Sort(ignored); len(ignored) > 0 {
		w.writeLine("# Left out: %s.", inputerr.List(ignored, 12))
	}
	if w.Book.Long {
		w.writeLine("# A row is an ingredient of a recipe.")
		return
	}
	var labels []string
	for _, l := range w.Book.Labels {
		if !w.isCondition(l.Name) {
			labels = append(labels, l.Name)
		}
	}
	also := ""
	if len(labels) > 0 {
		also = "; labels are " + inputerr.List(labels, 12)
	}
	row, column := "a recipe", "an ingredient"
	if w.Book.Transposed {
		row, column = column, row
	}
	w.writeLine("# A row is %s, a column %s%s.", row, column, also)
}

// writeObjectives writes the objectives, and other possible ones as comments.
func (w *draftWriter) writeObjectives(targets []Target) {
	if len(targets) == 0 {
		w.writeLine("# The table has no labels, such as a taste or a rating, to make an objective of.")
		if w.Pairs {
			w.writeLine("properties:")
			w.writeLine("  %s", pairsLine)
		}
		return
	}
	w.writeLine("# The objectives: kir learns a label from the recipes.")
	if w.Pairs || slices.ContainsFunc(targets, func(t Target) bool { return t.Objective.Direction != NoDirection }) {
		w.writeLine("properties:")
	} else {
		w.writeLine("# properties:")
	}
	for _, on := range []bool{true, false} {
		if !on && w.Pairs {
			w.writeLine("  %s", pairsLine)
		}
		for _, t := range targets {
			if on != (t.Objective.Direction != NoDirection) {
				continue
			}
			if len(t.Directions) == 0 {
				w.writeLine("  # %s: %s", dataset.YAMLText(t.Name), t.Why)
				continue
			}
			text, _ := t.yamlLines()
			if t.comment != "" {
				text += " # " + t.comment
			}
			if !on {
				text = "# " + text
			}
			w.writeLine("  %s", text)
		}
	}
}

// pairsLine is the objective that ingredients go together as they do in the recipes. It helps where a model
// is weak, because the recipes tell more about pairs.
const pairsLine = "together: {pairs: {}} # what goes together in the recipes"

// minRatioForLog is the least ratio of the largest to the smallest number for which the draft suggests
// logarithms.
const minRatioForLog = 100

// numbersComment suggests logarithms if ascending numbers span decades, and states how many recipes failed.
func numbersComment(numbers []float64, failed []bool) (text string) {
	if n := len(numbers); numbers[0] > 0 && numbers[n-1] >= float64(minRatioForLog*numbers[0]) {
		text += "; log: true learns their logarithms"
	}
	failures := 0
	for _, f := range failed {
		if f {
			failures++
		}
	}
	if failures > 0 {
		text += fmt.Sprintf("; %s failed, which is learnt, too", inputerr.Count(failures, "recipe"))
	}
	return text
}

// finerTotalComment suggests a greater total if the smallest dose of the recipes is below one unit.
func (w *draftWriter) finerTotalComment() string {
	least := 1.0
	for _, r := range w.Book.Recipes {
		sum := 0.0
		for _, p := range r.Parts {
			b, _ := p.Base().Float64()
			sum += b
		}
		for _, p := range r.Parts {
			b, _ := p.Base().Float64()
			least = min(least, b/sum)
		}
	}
	if least*float64(w.total) >= 0.999 || least < 1e-8 {
		return ""
	}
	return fmt.Sprintf("; the smallest dose, %.2g %%, counts as one: a total of %.0f has room for it", 100*least, portable.Pow(10, math.Ceil(-portable.Log10(float64(least*1.001)))))
}

// writeConstraints writes the constraints of the draft, and others that the recipes suggest as comments.
func (w *draftWriter) writeConstraints(targets []Target) error {
	doses, err := w.Book.Doses(w.total)
	if err != nil {
		return err
	}
	names := w.Book.Ingredients.Names
	share := func(units int) string {
		return number.Trim(number.Percentages(w.total).Write([]int{units})[0]) + " %"
	}
	w.writeLine("# Constraints, which every recipe keeps: take away # from those you want, and put it before others.")
	offered := w.OfferedBounds()
	var on []string
	for _, b := range offered {
		if b.On {
			on = append(on, withComment(b.Lines, b.Note)...)
		}
	}
	for _, t := range targets {
		if t.Objective.Direction == SureClass {
			_, rule := t.yamlLines()
			on = append(on, rule)
		}
	}
	if len(on) > 0 {
		w.writeLine("constraints:")
	} else {
		w.writeLine("# constraints:")
	}
	for _, text := range on {
		w.writeLine("  - %s", text)
	}
	for _, b := range offered {
		if !b.On {
			for _, text := range withComment(b.Lines, b.Note) {
				w.writeLine("#   - %s", text)
			}
		}
	}
	least := w.total
	for _, d := range doses {
		least = min(least, d.Least)
	}
	w.writeLine("#   - amount: {of: \"*\", min: %d} # the smallest dose in the recipes, %s", least, share(least))
	for _, d := range doses[:min(len(doses), draftDoses)] {
		w.writeLine("#   - amount: {of: %s, min: %d, max: %d} # in %s: %s to %s, median %s",
			dataset.YAMLText(names[d.Ingredient]), d.Least, d.Most, inputerr.Count(d.Recipes, "recipe"), share(d.Least), share(d.Most), share(d.Median))
	}
	if n := len(doses); n > 0 {
		w.writeLine("#   - require: [%s] # all draws use it", dataset.YAMLText(names[doses[0].Ingredient]))
		w.writeLine("#   - exclude: [%s] # no draw uses it", dataset.YAMLText(names[doses[n-1].Ingredient]))
	}
	for i := range w.Book.Ingredients.Attributes {
		w.writeAttribute(&w.Book.Ingredients.Attributes[i])
	}
	return nil
}

// withComment appends a comment to the first line.
func withComment(lines []string, note string) []string {
	lines = slices.Clone(lines)
	if len(lines) > 0 && note != "" {
		lines[0] += " # " + note
	}
	return lines
}

// writeAttribute suggests rules for an attribute of the ingredients.
func (w *draftWriter) writeAttribute(a *dataset.Attribute) {
	name := dataset.YAMLText(a.Name)
	if numbers, err := a.Numbers(); err == nil {
		if m := a.Meaning(); m != dataset.Figure {
			return // OfferedBounds covers it
		}
		numbers = slices.DeleteFunc(numbers, math.IsNaN)
		if len(numbers) == len(w.Book.Ingredients.Names) {
			w.writeLine("#   - limit: {attribute: %s, max: %v} # the mean over a composition; from %v to %v", name, roundedMean(numbers), slices.Min(numbers), slices.Max(numbers))
		}
		return
	}
	counts := make(map[string]int)
	for _, value := range a.Values {
		counts[value]++
	}
	delete(counts, "")
	if 2*len(counts) > len(a.Values) {
		return // too few ingredients share a value
	}
	values := make([]string, 0, len(counts))
	for value := range counts {
		values = append(values, value)
	}
	slices.Sort(values)
	slices.SortStableFunc(values, func(a, b string) int { return counts[b] - counts[a] })
	for _, value := range values[:min(len(values), draftGroups)] {
		least, most := w.usedRange(a, value)
		w.writeLine("#   - group: {of: {%s: %s}, used: [%d, %d]} # %s; as many of them as the recipes use", name, dataset.YAMLText(value), least, most, inputerr.Count(counts[value], "ingredient"))
	}
}

// usedRange returns the least and the greatest number of ingredients with a value that a recipe uses.
func (w *draftWriter) usedRange(a *dataset.Attribute, value string) (least, most int) {
	least = math.MaxInt
	for _, r := range w.Book.Recipes {
		n := 0
		for _, p := range r.Parts {
			if a.Values[p.Ingredient] == value {
				n++
			}
		}
		least, most = min(least, n), max(most, n)
	}
	return least, most
}

// roundedMean returns the mean of numbers, rounded to three significant digits.
func roundedMean(numbers []float64) float64 {
	sum := 0.0
	for _, v := range numbers {
		sum += v
	}
	m := sum / float64(len(numbers))
	if m == 0 {
		return 0
	}
	scale := portable.Pow(10, 2-math.Floor(portable.Log10(math.Abs(m))))
	return math.Round(m*scale) / scale
}
