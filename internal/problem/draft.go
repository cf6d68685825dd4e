package problem

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"kir/internal/book"
	"kir/internal/fault"
	"kir/internal/portable"
	"kir/internal/problem/schema"
)

// A Draft is what a problem file to start from is written of.
type Draft struct {
	// Table is the path of the table of recipes as the file is to name it, and
	// Layout how it is to be read.
	Table  string
	Layout book.Layout

	// Ingredients is the path of the table of ingredients and IngredientsLayout
	// how it is to be read; empty if there is none.
	Ingredients       string
	IngredientsLayout book.Layout

	// Units are sizes of units by their names, such as "5 cl"; nil if none is given.
	Units map[string]string

	// Book is what was read. Its ingredients are those of the table.
	Book *book.Book
}

// What a draft shows of a book, so that a person can read it.
const (
	draftTotal   = 1000
	draftDraws   = 20_000
	draftDoses   = 8
	draftGroups  = 8
	draftClasses = 12
)

// Write returns the problem file: what is known of the table in comments, the
// recipes' own law of the number of ingredients, a wish for the label that says
// most, and other wishes and rules commented out.
func (d *Draft) Write() ([]byte, error) {
	w := &draftWriter{Draft: d, total: draftTotal}
	sizes := d.Book.UsedCounts()
	for 10*(len(sizes)-1) > w.total {
		w.total *= 10
	}
	w.line("%s", schema.Modeline(schema.FileName))
	w.line("# %s, %s: written by kir init to start from.", fault.Count(len(d.Book.Recipes), "recipe"), fault.Count(d.Book.Ingredients.Len(), "ingredient"))
	w.line("# Check it with kir check, sample it with kir sample. A line behind # does nothing.")
	w.line("name: %s", book.YAMLText(strings.TrimSuffix(filepath.Base(d.Table), filepath.Ext(d.Table))))
	w.notes("", d.Book.Notes)
	w.columns()
	w.line("%s", book.TableYAML("recipes", filepath.ToSlash(d.Table), d.Layout))
	if len(d.Units) > 0 {
		var sizes []string
		for _, name := range slices.Sorted(maps.Keys(d.Units)) {
			sizes = append(sizes, book.YAMLText(name)+": "+book.YAMLText(d.Units[name]))
		}
		w.line("units: {%s}", strings.Join(sizes, ", "))
	}
	if d.Ingredients != "" {
		w.notes("", d.Book.Ingredients.Notes)
		w.line("%s", book.TableYAML("ingredients", filepath.ToSlash(d.Ingredients), d.IngredientsLayout))
	}
	w.line("total: %d # units in a composition: one is %v %%%s", w.total, 100/float64(w.total), w.finer())
	var law []string
	for n, count := range sizes {
		if count > 0 {
			law = append(law, fmt.Sprintf("%d: %d", n, count))
		}
	}
	if len(law) > 20 {
		law = append(law[:20], "...")
	}
	w.line("sparsity: recipes # as many ingredients as the recipes have: {%s}", strings.Join(law, ", "))
	w.properties()
	if err := w.rules(); err != nil {
		return nil, err
	}
	w.line("sampler: {chains: 4, draws: %d, seed: 1}", draftDraws)
	return []byte(w.text.String()), nil
}

// A draftWriter writes a draft.
type draftWriter struct {
	*Draft
	text  strings.Builder
	total int
}

// line writes a line. Names from a table may hold line ends, which are quoted.
func (w *draftWriter) line(format string, args ...any) {
	w.text.WriteString(strings.NewReplacer("\n", " ", "\r", " ", "\u0085", " ", "\u2028", " ", "\u2029", " ").Replace(fmt.Sprintf(format, args...)))
	w.text.WriteByte('\n')
}

// notes writes what was understood of a table, without the places' file.
func (w *draftWriter) notes(indent string, notes []book.Note) {
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
		if n.Settle != "" {
			ask = " Is that right?"
		}
		w.line("%s# %s%s.%s", indent, n.Message, at, ask)
	}
	if len(notes) > most {
		w.line("%s# %d more things were understood: see kir check.", indent, len(notes)-most)
	}
}

// columns says what the columns are.
func (w *draftWriter) columns() {
	var ignored []string
	for name, role := range w.Layout.Columns {
		if role == book.IgnoredColumn {
			ignored = append(ignored, name)
		}
	}
	if slices.Sort(ignored); len(ignored) > 0 {
		w.line("# Left out: %s.", fault.List(ignored, 12))
	}
	if w.Book.Long {
		w.line("# A row is an ingredient of a recipe.")
		return
	}
	var labels []string
	for _, l := range w.Book.Labels {
		labels = append(labels, l.Name)
	}
	also := ""
	if len(labels) > 0 {
		also = "; labels are " + fault.List(labels, 12)
	}
	row, column := "a recipe", "an ingredient"
	if w.Book.Turned {
		row, column = column, row
	}
	w.line("# A row is %s, a column %s%s.", row, column, also)
}

// properties writes a wish for each label that can be learnt, of which the
// best one counts.
func (w *draftWriter) properties() {
	best, most := -1, 0
	wishes := make([][2]string, len(w.Book.Labels))
	for i := range w.Book.Labels {
		wish, comment, worth := w.wish(&w.Book.Labels[i])
		wishes[i] = [2]string{wish, comment}
		if worth > most {
			best, most = i, worth
		}
	}
	if len(wishes) == 0 {
		w.line("# The table has no labels, such as a taste or a rating, that could be wished for.")
		return
	}
	w.line("# What is wished for: kir learns a label from the recipes.")
	if best >= 0 {
		w.line("properties:")
		w.line("  %s # %s", wishes[best][0], wishes[best][1])
	} else {
		w.line("# properties:")
	}
	for i, wish := range wishes {
		switch {
		case i == best:
		case wish[0] == "":
			w.line("  # %s: %s", book.YAMLText(w.Book.Labels[i].Name), wish[1])
		default:
			w.line("  # %s # %s", wish[0], wish[1])
		}
	}
}

// unwanted are names of classes that nobody wishes for.
var unwanted = map[string]bool{
	"bad": true, "fail": true, "failed": true, "false": true, "low": true, "n": true, "negative": true,
	"no": true, "off": true, "poor": true, "reject": true, "rejected": true, "weak": true, "worst": true, "0": true,
}

// wish returns a wish for a label, a comment, and how much it is worth asking
// for: 0 if nothing could be learnt from it.
func (w *draftWriter) wish(l *book.Label) (wish, comment string, worth int) {
	for k := range w.Book.Labels {
		if of := &w.Book.Labels[k]; w.Book.SpreadOf(of) == l {
			return "", "the standard deviations of " + of.Name, 0
		}
	}
	name := book.YAMLText(l.Name)
	known := len(w.Book.Recipes) - l.Missing()
	numbers, failed, err := l.Measured()
	numbers = slices.DeleteFunc(numbers, math.IsNaN)
	slices.Sort(numbers)
	if n := len(numbers); err == nil && len(slices.Compact(slices.Clone(numbers))) > 2 {
		way, other, worth := "maximize", "minimize", 3*known
		if book.Costs(l.Name) { // which a limit keeps low better than a model's guess
			way, other, worth = other, way, 2*known
		}
		label, sd := name, ""
		if base, unit := book.HeadUnit(l.Name); unit != "" && w.onlyOne(base) {
			name = book.YAMLText(base) // the unit stands beside each number
		}
		if spread := w.Book.SpreadOf(l); spread != nil {
			sd = ", sd: " + book.YAMLText(spread.Name)
		}
		return fmt.Sprintf("%s: {learn: {label: %s, %s: true%s}}", name, label, way, sd),
			fmt.Sprintf("or %s: true, or between: [%v, %v], the middle half of %v to %v", other, numbers[(n-1)/4], numbers[n-1-(n-1)/4], numbers[0], numbers[n-1]) + alsoOf(numbers, failed), worth
	}
	if len(l.Classes) == 0 {
		return "", "it is empty", 0
	}
	order := make([]int, len(l.Classes))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return l.Counts[b] - l.Counts[a] })
	var classes []string
	for _, k := range order[:min(len(order), draftClasses)] {
		classes = append(classes, fmt.Sprintf("%s %d", fault.Quote(l.Classes[k]), l.Counts[k]))
	}
	comment = strings.Join(classes, ", ")
	if more := len(order) - draftClasses; more > 0 {
		comment += fmt.Sprintf(" and %d more", more)
	}
	switch {
	case len(l.Classes) == 1:
		return "", "all recipes have " + comment, 0
	case 2*len(l.Classes) > known:
		return "", "most recipes have a value of their own, so nothing can be learnt", 0
	}
	wanted := l.Classes[order[0]] // the commonest, unless its name says that nobody wants it
	for _, k := range order {
		if !unwanted[strings.ToLower(l.Classes[k])] {
			wanted = l.Classes[k]
			break
		}
	}
	return fmt.Sprintf("%s: {learn: {label: %s, want: %s}}", name, name, book.YAMLText(wanted)), comment, known
}

// onlyOne is whether a name without its unit is that of one label alone.
func (w *draftWriter) onlyOne(base string) bool {
	n := 0
	for k := range w.Book.Labels {
		if name, _ := book.HeadUnit(w.Book.Labels[k].Name); name == base {
			n++
		}
	}
	return n == 1
}

// spanLog is by how much the largest number exceeds the smallest where logarithms are
// offered.
const spanLog = 100

// alsoOf says of ascending numbers that they span decades, and how many recipes failed.
func alsoOf(numbers []float64, failed []bool) (text string) {
	if n := len(numbers); numbers[0] > 0 && numbers[n-1] >= float64(spanLog*numbers[0]) {
		text += "; log: true learns their logarithms"
	}
	failures := 0
	for _, f := range failed {
		if f {
			failures++
		}
	}
	if failures > 0 {
		text += fmt.Sprintf("; %s failed, which is learnt, too", fault.Count(failures, "recipe"))
	}
	return text
}

// finer says what total the smallest dose of the recipes needs, if it is below a unit.
func (w *draftWriter) finer() string {
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

// rules writes rules that the recipes suggest, commented out.
func (w *draftWriter) rules() error {
	doses, err := w.Book.Doses(w.total)
	if err != nil {
		return err
	}
	names := w.Book.Ingredients.Names
	share := func(units int) string { return fmt.Sprintf("%.3g %%", 100*float64(units)/float64(w.total)) }
	w.line("# Rules that every draw is to keep: take away # from those you want, and from constraints.")
	w.line("# constraints:")
	least := w.total
	for _, d := range doses {
		least = min(least, d.Least)
	}
	w.line("#   - amount: {of: \"*\", min: %d} # the smallest dose in the recipes, %s", least, share(least))
	for _, d := range doses[:min(len(doses), draftDoses)] {
		w.line("#   - amount: {of: %s, min: %d, max: %d} # in %s: %s to %s, median %s",
			book.YAMLText(names[d.Ingredient]), d.Least, d.Most, fault.Count(d.Recipes, "recipe"), share(d.Least), share(d.Most), share(d.Median))
	}
	if n := len(doses); n > 0 {
		w.line("#   - require: [%s] # all draws use it", book.YAMLText(names[doses[0].Ingredient]))
		w.line("#   - exclude: [%s] # no draw uses it", book.YAMLText(names[doses[n-1].Ingredient]))
	}
	for i := range w.Book.Ingredients.Attributes {
		w.attribute(&w.Book.Ingredients.Attributes[i])
	}
	return nil
}

// attribute writes rules by what is known of the ingredients.
func (w *draftWriter) attribute(a *book.Attribute) {
	name := book.YAMLText(a.Name)
	if numbers, err := a.Numbers(); err == nil {
		numbers = slices.DeleteFunc(numbers, math.IsNaN)
		if len(numbers) == len(w.Book.Ingredients.Names) {
			w.line("#   - limit: {attribute: %s, max: %v} # the mean over a composition; from %v to %v", name, mean(numbers), slices.Min(numbers), slices.Max(numbers))
		}
		return
	}
	counts := make(map[string]int)
	for _, value := range a.Values {
		counts[value]++
	}
	delete(counts, "")
	if 2*len(counts) > len(a.Values) {
		return // hardly any share it
	}
	values := make([]string, 0, len(counts))
	for value := range counts {
		values = append(values, value)
	}
	slices.Sort(values)
	slices.SortStableFunc(values, func(a, b string) int { return counts[b] - counts[a] })
	for _, value := range values[:min(len(values), draftGroups)] {
		least, most := w.used(a, value)
		w.line("#   - group: {of: {%s: %s}, used: [%d, %d]} # %s; as many of them as the recipes use", name, book.YAMLText(value), least, most, fault.Count(counts[value], "ingredient"))
	}
}

// used returns how many ingredients with a value the recipes use, at least and at
// most.
func (w *draftWriter) used(a *book.Attribute, value string) (least, most int) {
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

// mean returns the mean of numbers, to three digits.
func mean(numbers []float64) float64 {
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
