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

// A Draft has everything that is needed to write a first problem file for a table.
type Draft struct {
	// Table is the path of the table of recipes, as the problem file names it. Layout is the layout of the
	// table.
	Table  string
	Layout dataset.Layout

	// ModelCache keeps the models that [Draft.Finish] learns, for what reads the problem next. It may be nil.
	ModelCache *ModelCache

	// Ingredients is the path of the table of ingredients, or empty if there is none. IngredientsLayout is
	// the layout of that table.
	Ingredients       string
	IngredientsLayout dataset.Layout

	// Offers are other sheets of the workbook that list the ingredients. None of them is used.
	Offers []IngredientsOffer

	// Constituents is the path of the table of constituents, or empty if there is none; see
	// [Draft.UseDilutions].
	Constituents string

	// Units maps names of units to their sizes, such as "5 cl". It may be nil.
	Units map[string]string

	// Book has the recipes of the table and their ingredients.
	Book *dataset.Book

	// SetColumns are the columns that the user declares to be conditions, which a trial sets. MeasuredColumns
	// are the columns that the user declares to be measured. For other columns ReadTable decides by the name
	// of the column.
	SetColumns            []string
	MeasuredColumns       []string
	foundConditionColumns []string

	// Series is a history of prices or returns of assets. Either Series or Book is set.
	Series *dataset.Series

	// Objectives maps the key of a [Target] to its objective. Bounds maps the key of a [Bound] to whether the
	// draft has that constraint. Missing entries have defaults; see [Draft.Targets] and
	// [Draft.OfferedBounds].
	Objectives map[string]DraftObjective
	Bounds     map[string]bool

	// Batch is the size for which the stock must be enough, such as 700 ml. Empty means a default size; see
	// [Draft.Batches]. Pairs adds the objective that ingredients occur together as in the recipes. NoPairs
	// prevents Finish from adding that objective.
	Batch          string
	Pairs, NoPairs bool

	// RecipesPerBatch is the number of recipes made at a time. 0 means a default number; see [Draft.BatchSize].
	RecipesPerBatch int
}

// Sizes in a draft. The maxima keep a draft short enough to read.
const (
	minDraftTotal   = 1000 // minimum total of a composition, in units
	maxDraftDoses   = 8    // maximum number of ingredients whose doses are shown
	maxDraftGroups  = 8    // maximum number of values of an attribute for which rules are suggested
	maxDraftClasses = 12   // maximum number of classes of a label that are shown
)

// Write returns the text of the problem file. The sparsity, that is, the distribution of the number of
// ingredients, is that of the recipes. The file has the objectives and constraints of the draft. Comments in
// the file describe the table and suggest further objectives and constraints.
func (d *Draft) Write() ([]byte, error) {
	if d.Series != nil {
		return (&draftWriter{Draft: d}).writePortfolio(), nil
	}
	w := &draftWriter{Draft: d, total: d.totalUnits()}
	sizes := d.Book.RecipeCountsBySize()
	w.writeLine("%s", schema.Modeline(schema.FileName))
	w.writeLine("# The line above lets editors check this file; keep it.")
	w.writeLine("# %s, %s: written by kir init to start from.", inputerr.Count(len(d.Book.Recipes), "recipe"), inputerr.Count(d.Book.Ingredients.Len(), "ingredient"))
	w.writeLine("# Check this file with kir check; find recipes with kir sample. kir ignores text after #.")
	w.writeLine("name: %s", dataset.YAMLText(strings.TrimSuffix(filepath.Base(d.Table), filepath.Ext(d.Table))))
	w.writeNotes("", d.Book.Notes)
	w.writeColumns()
	w.writeLine("%s", dataset.TableYAML("recipes", filepath.ToSlash(d.Table), d.Layout))
	w.writeUnits()
	if d.Ingredients != "" {
		w.writeNotes("", d.Book.Ingredients.Notes)
		w.writeLine("%s", dataset.TableYAML("ingredients", filepath.ToSlash(d.Ingredients), d.IngredientsLayout))
	} else {
		for _, o := range d.Offers {
			if len(o.Lacking) > 0 {
				w.writeLine("# In the workbook %s.", o.Text())
				continue
			}
			w.writeLine("# %s # %s", dataset.TableYAML("ingredients", filepath.ToSlash(d.Table), o.list.GuessedLayout.Merge(dataset.Layout{Sheet: o.Sheet})), o.Text())
		}
	}
	w.writeLine("total: %d # units in a recipe; one unit is %v %%%s", w.total, 100/float64(w.total), w.finerTotalComment())
	var law []string
	for n, count := range sizes {
		if count > 0 {
			law = append(law, fmt.Sprintf("%d in %s", n, inputerr.Count(count, "recipe")))
		}
	}
	if len(law) > 20 {
		law = append(law[:20], "...")
	}
	w.writeLine("sparsity: recipes # as many ingredients as in your recipes: %s", strings.Join(law, ", "))
	w.writeConditions()
	targets := w.Targets()
	w.writeObjectives(targets)
	if err := w.writeConstraints(targets); err != nil {
		return nil, err
	}
	if n := w.BatchSize(); n != usualBatchSize && slices.ContainsFunc(targets, func(t Target) bool { return t.Objective.Direction != NoDirection && !t.Attribute }) {
		w.writeLine("campaign: {batch: %d} # recipes per batch", n)
	}
	return []byte(w.yamlText.String()), nil
}

// writeUnits writes the sizes of the units that the user has given, and of those that have no standard size, as the
// recipes were read with them.
func (w *draftWriter) writeUnits() {
	sizes := maps.Clone(w.Units)
	if sizes == nil {
		sizes = make(map[string]string)
	}
	var assumed []string
	for _, use := range w.Book.LooseUnits() {
		if sizes[use.Name] == "" {
			sizes[use.Name] = use.Size
			assumed = append(assumed, use.Name)
		}
	}
	if len(sizes) == 0 {
		return
	}
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		texts = append(texts, dataset.YAMLText(name)+": "+dataset.YAMLText(sizes[name]))
	}
	comment := ""
	if len(assumed) > 0 {
		slices.Sort(assumed)
		comment = " # kir assumed the size of " + inputerr.List(assumed, 12)
	}
	w.writeLine("units: {%s}%s", strings.Join(texts, ", "), comment)
}

// totalUnits returns the total of a composition in units. It is large enough for ten units of each ingredient
// of the largest recipe.
func (d *Draft) totalUnits() int {
	total := minDraftTotal
	for 10*(len(d.Book.RecipeCountsBySize())-1) > total {
		total *= 10
	}
	return total
}

// A draftWriter writes the problem file of a draft.
type draftWriter struct {
	*Draft
	yamlText strings.Builder // text of the problem file written so far
	total    int             // total of a composition, in units
}

// writeLine writes a line of the problem file. Line breaks in names from a table become spaces.
func (w *draftWriter) writeLine(format string, args ...any) {
	w.yamlText.WriteString(strings.NewReplacer("\n", " ", "\r", " ", "\u0085", " ", "\u2028", " ", "\u2029", " ").Replace(fmt.Sprintf(format, args...)))
	w.yamlText.WriteByte('\n')
}

// writeNotes writes notes about a table as comments, without the name of its file.
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
		w.writeLine("%s# kir check lists %d more notes on the table.", indent, len(notes)-most)
	}
}

// writeColumns writes comments about the columns of the table of recipes.
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
	if w.Book.LongForm {
		w.writeLine("# In the table, each row is an ingredient of a recipe.")
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
		also = "; results are " + inputerr.List(labels, 12)
	}
	row, column := "a recipe", "an ingredient"
	if w.Book.Transposed {
		row, column = column, row
	}
	w.writeLine("# In the table, each row is %s, each column %s%s.", row, column, also)
}

// writeObjectives writes the objectives of the draft. Other possible objectives follow as comments.
func (w *draftWriter) writeObjectives(targets []Target) {
	if len(targets) == 0 {
		w.writeLine("# The table has no results, such as a taste or a rating, for an objective.")
		if w.Pairs {
			w.writeLine("properties:")
			w.writeLine("  %s", pairsObjectiveYAML)
		}
		return
	}
	w.writeLine("# The objectives: kir learns a result (label) from the recipes.")
	if w.Pairs || slices.ContainsFunc(targets, func(t Target) bool { return t.Objective.Direction != NoDirection }) {
		w.writeLine("properties:")
	} else {
		w.writeLine("# properties:")
	}
	for _, on := range []bool{true, false} {
		if !on && w.Pairs {
			w.writeLine("  %s", pairsObjectiveYAML)
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
			if t.yamlComment != "" {
				text += " # " + t.yamlComment
			}
			if !on {
				text = "# " + text
			}
			w.writeLine("  %s", text)
		}
	}
}

// pairsObjectiveYAML is the line for the objective that ingredients occur together as in the recipes. The
// objective helps where a model is weak, because recipes tell more about pairs of ingredients than about a
// label.
const pairsObjectiveYAML = "together: {pairs: {}} # favours ingredients found together in the recipes"

// minRatioForLog is the least ratio of the largest to the smallest number of a label for which the draft
// suggests learning logarithms.
const minRatioForLog = 100

// numbersComment returns a comment on a label of numbers, which must be ascending. It suggests logarithms if
// the numbers span decades, and tells how many recipes failed.
func numbersComment(numbers []float64, failed []bool) (text string) {
	if n := len(numbers); numbers[0] > 0 && numbers[n-1] >= float64(minRatioForLog*numbers[0]) {
		text += "; add log: true to learn their logarithms"
	}
	failures := 0
	for _, f := range failed {
		if f {
			failures++
		}
	}
	if failures > 0 {
		text += fmt.Sprintf("; %s failed, and kir learns from that, too", inputerr.Count(failures, "recipe"))
	}
	return text
}

// finerTotalComment returns a comment that suggests a greater total if the smallest dose of the recipes is
// below one unit. Otherwise it returns "".
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
	return fmt.Sprintf("; the smallest amount, %.2g %%, counts as one unit; total: %.0f avoids this rounding", 100*least, portable.Pow(10, math.Ceil(-portable.Log10(float64(least*1.001)))))
}

// writeConstraints writes the constraints of the draft. Other constraints that the recipes suggest follow as
// comments.
func (w *draftWriter) writeConstraints(targets []Target) error {
	doses, err := w.Book.Doses(w.total)
	if err != nil {
		return err
	}
	names := w.Book.Ingredients.Names
	share := func(units int) string {
		return number.Trim(number.Percentages(w.total).Write([]int{units})[0]) + " %"
	}
	w.writeLine("# Constraints, which every recipe keeps: delete # before those you want, and add # before others.")
	offered := w.OfferedBounds()
	var on []string
	if w.Constituents != "" {
		on = append(on, w.constituentsYAML())
	}
	for _, b := range offered {
		if b.On {
			on = append(on, appendComment(b.Lines, b.Note)...)
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
			for _, text := range appendComment(b.Lines, b.Note) {
				w.writeLine("#   - %s", text)
			}
		}
	}
	least := w.total
	for _, d := range doses {
		least = min(least, d.MinUnits)
	}
	w.writeLine("#   - amount: {of: \"*\", min: %d} # the smallest amount in the recipes, %s", least, share(least))
	for _, d := range doses[:min(len(doses), maxDraftDoses)] {
		w.writeLine("#   - amount: {of: %s, min: %d, max: %d} # in %s: %s to %s, median %s",
			dataset.YAMLText(names[d.Ingredient]), d.MinUnits, d.MaxUnits, inputerr.Count(d.RecipeCount, "recipe"), share(d.MinUnits), share(d.MaxUnits), share(d.MedianUnits))
	}
	if n := len(doses); n > 0 {
		w.writeLine("#   - require: [%s] # every recipe uses it", dataset.YAMLText(names[doses[0].Ingredient]))
		w.writeLine("#   - exclude: [%s] # no recipe uses it", dataset.YAMLText(names[doses[n-1].Ingredient]))
	}
	for i := range w.Book.Ingredients.Attributes {
		w.suggestAttributeRules(&w.Book.Ingredients.Attributes[i])
	}
	if w.Constituents != "" {
		w.suggestSolventLimit()
	}
	return nil
}

// appendComment returns a copy of the lines, with the note as a comment at the end of the first line.
func appendComment(lines []string, note string) []string {
	lines = slices.Clone(lines)
	if len(lines) > 0 && note != "" {
		lines[0] += " # " + note
	}
	return lines
}

// suggestAttributeRules writes rules for an attribute of the ingredients as comments.
func (w *draftWriter) suggestAttributeRules(a *dataset.Attribute) {
	name := dataset.YAMLText(a.Name)
	if numbers, err := a.Numbers(); err == nil {
		if m := a.Meaning(); m != dataset.OtherNumber {
			return // OfferedBounds covers it
		}
		numbers = slices.DeleteFunc(numbers, math.IsNaN)
		if len(numbers) == len(w.Book.Ingredients.Names) {
			w.writeLine("#   - limit: {attribute: %s, max: %v} # the mean of a recipe; ingredients have %v to %v", name, roundedMean(numbers), slices.Min(numbers), slices.Max(numbers))
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
	for _, value := range values[:min(len(values), maxDraftGroups)] {
		least, most := w.usedCountRange(a, value)
		w.writeLine("#   - group: {of: {%s: %s}, used: [%d, %d]} # %s, of which your recipes use %d to %d", name, dataset.YAMLText(value), least, most, inputerr.Count(counts[value], "ingredient"), least, most)
	}
}

// usedCountRange returns the least and the greatest number of ingredients with a value of the attribute that
// a recipe uses.
func (w *draftWriter) usedCountRange(a *dataset.Attribute, value string) (least, most int) {
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
