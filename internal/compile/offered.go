package compile

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"kir/internal/config"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/internal/portable"
)

// Directions of an objective of a draft, in addition to the directions for numbers.
const (
	NoDirection config.Direction = ""     // no objective
	WantClass   config.Direction = "want" // a high probability of a class
	SureClass   config.Direction = "sure" // a probability of a class of at least [sureShare], as a constraint
)

// sureShare is the probability that [SureClass] requires.
const sureShare = "90%"

// A DraftObjective is the objective of a draft for one label of the recipes, or for one attribute of the
// ingredients.
type DraftObjective struct {
	Direction config.Direction `json:"way"`
	From, To  float64          `json:",omitempty"`      // bounds, if the direction is config.Between
	Class     string           `json:"class,omitempty"` // name of the class, if the direction is WantClass or SureClass
}

// A Target is a quantity that can be an objective of a draft: a label of the recipes, or a numeric attribute
// of the ingredients.
type Target struct {
	Key  string // key of the target in [Draft.Objectives]
	Name string // name of the column

	// Attribute is true for an attribute of the ingredients. The objective is then the mean of the attribute
	// over a recipe.
	Attribute bool

	// Directions are the directions that the objective may have. Objective is the objective. If there are no
	// directions, Why is the reason.
	Directions []config.Direction
	Objective  DraftObjective
	Why        string

	Known       int      // number of recipes with a value
	Least, Most float64  // range of the values
	From, To    float64  // quartiles of the values, which enclose the middle half
	Classes     []string // names of the classes, the most frequent first
	Counts      []int    // by class: number of recipes

	yamlName, yamlComment string             // name of the property in the problem file, and a comment on it
	sdYAML                string             // text of the key "sd" of the property in the problem file; empty without standard deviations
	rank                  dataset.ResultRank // how likely the label is what people want to optimise
}

// A Bound is a constraint that a draft can have.
type Bound struct {
	Key   string   // key of the constraint in [Draft.Bounds]
	Words string   // short description
	Lines []string // text of the constraint in the problem file, as one or more rules
	Note  string   // comment after the first line
	On    bool     // whether the draft has the constraint
}

// attributeKey returns the key of the target or of the constraint of an attribute of the ingredients.
func attributeKey(name string) string { return "ingredients: " + name }

// Targets returns the possible objectives of the draft, with the chosen directions. If Objectives is nil, the
// label that people most likely want to optimise has its default objective. If several are equally likely, none has
// one: see [Draft.OpenObjectives].
func (d *Draft) Targets() []Target {
	if d.Series != nil {
		return d.portfolioTargets()
	}
	var all []Target
	among := newLabelRelations(d.Book)
	for i := range d.Book.Labels {
		if d.isCondition(d.Book.Labels[i].Name) {
			continue
		}
		t := d.labelTarget(i, among)
		if len(t.Directions) > 0 {
			t.rank = dataset.RankResult(t.Key, t.Classes)
		}
		if t.rank == dataset.NoResult && len(t.Directions) > 0 && t.Classes == nil && slices.Contains(d.MeasuredColumns, t.Key) {
			t.rank = dataset.UnnamedNumber
		}
		all = append(all, t)
	}
	if likely := likelyObjectives(all); len(likely) == 1 {
		all[likely[0]].Objective = all[likely[0]].DefaultObjective()
	}
	for i := range d.Book.Ingredients.Attributes {
		a := &d.Book.Ingredients.Attributes[i]
		numbers, err := a.Numbers()
		if m := a.Meaning(); err != nil || m != dataset.Price && m != dataset.OtherNumber || len(numbers) == 0 || slices.ContainsFunc(numbers, math.IsNaN) {
			continue
		}
		name, _ := dataset.SplitHeaderUnit(a.Name)
		t := Target{Key: attributeKey(a.Name), Name: a.Name, Attribute: true, Directions: []config.Direction{config.Maximize, config.Minimize}, Known: len(d.Book.Recipes), yamlName: name}
		if a.Meaning() == dataset.Price {
			t.Directions = []config.Direction{config.Minimize, config.Maximize}
		}
		t.Least, t.Most = slices.Min(numbers), slices.Max(numbers)
		if t.Least == t.Most {
			continue
		}
		all = append(all, t)
	}
	taken := make(map[string]bool)
	for i := range all {
		t := &all[i]
		if taken[t.yamlName] {
			t.yamlName = t.Name
		}
		if taken[t.yamlName] {
			t.yamlName += " of the ingredients"
		}
		taken[t.yamlName] = true
		if d.Objectives != nil {
			t.Objective = DraftObjective{}
		}
		if g, ok := d.Objectives[t.Key]; ok && slices.Contains(t.Directions, g.Direction) {
			if g.Direction == config.Between && !(g.From < g.To) {
				g.From, g.To = t.From, t.To
			}
			if (g.Direction == WantClass || g.Direction == SureClass) && !slices.Contains(t.Classes, g.Class) {
				g.Class = t.DefaultObjective().Class
			}
			t.Objective = g
		}
	}
	return all
}

// likelyObjectives returns the indices of the labels that people most likely want to optimise: those of the highest
// rank, without labels that half of the recipes lack. Of several, the only one that is called a mean stands for the
// others.
func likelyObjectives(all []Target) (likely []int) {
	highest, known := dataset.NoResult, 0
	for _, t := range all {
		if t.rank > dataset.NoResult {
			known = max(known, t.Known)
		}
	}
	for _, t := range all {
		if 2*t.Known >= known {
			highest = max(highest, t.rank)
		}
	}
	if highest == dataset.NoResult {
		return nil
	}
	var means []int
	for i, t := range all {
		if t.rank == highest && 2*t.Known >= known {
			likely = append(likely, i)
			if dataset.IsMeanName(t.Name) {
				means = append(means, i)
			}
		}
	}
	if len(means) == 1 {
		return means
	}
	return likely
}

// OpenObjectives returns the labels of which each may be the objective of a draft that has none.
func (d *Draft) OpenObjectives() (names []string) {
	all := d.Targets()
	if slices.ContainsFunc(all, func(t Target) bool { return t.Objective.Direction != NoDirection }) {
		return nil
	}
	for _, i := range likelyObjectives(all) {
		names = append(names, all[i].Name)
	}
	return names
}

// ChooseObjectives makes the named results the only objectives of the draft. Each text is the name of a column, alone or
// with what is wanted of it, as in liking=minimize, or grade=good for a class.
func (d *Draft) ChooseObjectives(texts []string) error {
	all := d.Targets()
	var names []string
	for _, t := range all {
		if len(t.Directions) > 0 {
			names = append(names, t.Name)
		}
	}
	find := func(name string) int {
		name = dataset.NormalizeName(name)
		return slices.IndexFunc(all, func(t Target) bool { return t.Name == name || t.yamlName == name })
	}
	chosen := make(map[string]DraftObjective)
	for _, text := range texts {
		name, asked := text, ""
		at := find(name)
		if k := strings.LastIndexByte(text, '='); at < 0 && k > 0 {
			name, asked = text[:k], dataset.NormalizeName(text[k+1:])
			at = find(name)
		}
		switch {
		case at < 0:
			hint := inputerr.DidYouMean(name, names)
			if hint == "" && len(names) > 0 {
				hint = "there are " + inputerr.List(names, 12)
			}
			return &inputerr.Error{Message: "no result is called " + inputerr.Quote(name), Hint: hint}
		case len(all[at].Directions) == 0:
			return &inputerr.Error{Message: inputerr.Quote(name) + " cannot be an objective: " + all[at].Why, Hint: "name another result"}
		}
		t := &all[at]
		g := t.DefaultObjective()
		switch {
		case asked == "":
		case t.Classes != nil && slices.Contains(t.Classes, asked):
			g.Class = asked
		case t.Classes == nil && slices.Contains(t.Directions, config.Direction(asked)) && asked != string(config.Between):
			g.Direction = config.Direction(asked)
		case t.Classes != nil:
			return &inputerr.Error{Message: inputerr.Quote(name) + " has no class " + inputerr.Quote(asked), Hint: "write one of " + inputerr.List(t.Classes, 12)}
		default:
			return &inputerr.Error{Message: "an objective cannot be " + inputerr.Quote(asked), Hint: "write maximize or minimize"}
		}
		chosen[t.Key] = g
	}
	d.Objectives = chosen
	return nil
}

// DefaultObjective returns the objective that suits the target best: the first direction, and for classes the
// best one if they have an order, or else the first class whose name does not sound unwanted.
func (t *Target) DefaultObjective() DraftObjective {
	g := DraftObjective{Direction: t.Directions[0]}
	if g.Direction == WantClass {
		g.Class = t.Classes[0]
		if order, ok := dataset.OrderClasses(t.Classes); ok {
			g.Class = order[len(order)-1]
			return g
		}
		for _, class := range t.Classes {
			if !unwantedClasses[strings.ToLower(class)] {
				g.Class = class
				break
			}
		}
	}
	return g
}

// yamlLines returns the objective as a line of a problem file. If the objective is a constraint too, rule is
// the line of the constraint.
func (t *Target) yamlLines() (line, rule string) {
	g := t.Objective
	if g.Direction == NoDirection {
		g = t.DefaultObjective()
	}
	key, column := dataset.YAMLText(t.yamlName), dataset.YAMLText(t.Name)
	if t.Attribute {
		return fmt.Sprintf("%s: {blend: {attribute: %s, %s: true}}", key, column, g.Direction), ""
	}
	switch g.Direction {
	case config.Between:
		return fmt.Sprintf("%s: {learn: {label: %s, between: [%v, %v]%s}}", key, column, g.From, g.To, t.sdYAML), ""
	case WantClass:
		return fmt.Sprintf("%s: {learn: {label: %s, want: %s}}", key, column, dataset.YAMLText(g.Class)), ""
	case SureClass:
		return fmt.Sprintf("%s: {learn: {label: %s, want: %s}, weight: 0}", key, column, dataset.YAMLText(g.Class)), fmt.Sprintf("limit: {property: %s, min: %q}", key, sureShare)
	}
	return fmt.Sprintf("%s: {learn: {label: %s, %s: true%s}}", key, column, g.Direction, t.sdYAML), ""
}

// unwantedClasses are names of classes that are rarely an objective, in lower case.
var unwantedClasses = map[string]bool{
	"bad": true, "fail": true, "failed": true, "false": true, "low": true, "n": true, "negative": true,
	"no": true, "off": true, "poor": true, "reject": true, "rejected": true, "unstable": true, "weak": true, "worst": true, "0": true,
}

// A labelRelations tells which labels of the recipes belong together.
type labelRelations struct {
	sdLabels       []int          // by label: index of the label with its standard deviations, or −1
	measuredLabels map[int]int    // by label of standard deviations: index of the first label whose standard deviations it has
	baseNameCounts map[string]int // by name of a label without its unit: number of labels with that name
}

// newLabelRelations returns the relations between the labels of b.
func newLabelRelations(b *dataset.Book) labelRelations {
	c := labelRelations{sdLabels: b.SpreadLabels(), measuredLabels: make(map[int]int), baseNameCounts: make(map[string]int)}
	for k := range b.Labels {
		if l := c.sdLabels[k]; l >= 0 {
			if _, other := c.measuredLabels[l]; !other {
				c.measuredLabels[l] = k
			}
		}
		base, _ := dataset.SplitHeaderUnit(b.Labels[k].Name)
		c.baseNameCounts[base]++
	}
	return c
}

// labelTarget returns the target of the label with an index.
func (d *Draft) labelTarget(label int, among labelRelations) Target {
	l := &d.Book.Labels[label]
	t := Target{Key: l.Name, Name: l.Name, yamlName: l.Name, Known: len(d.Book.Recipes) - l.MissingCount()}
	if of, is := among.measuredLabels[label]; is {
		t.Why = "the standard deviations of " + d.Book.Labels[of].Name
		return t
	}
	numbers, failed, err := l.Measurements()
	numbers = slices.DeleteFunc(numbers, math.IsNaN)
	slices.Sort(numbers)
	if n := len(numbers); err == nil && len(slices.Compact(slices.Clone(numbers))) > 2 {
		t.Directions = []config.Direction{config.Maximize, config.Minimize, config.Between}
		if dataset.IsLowerBetterName(l.Name) {
			t.Directions = []config.Direction{config.Minimize, config.Maximize, config.Between}
		}
		if base, _ := dataset.SplitHeaderUnit(l.Name); base != l.Name && among.baseNameCounts[base] == 1 {
			t.yamlName = base // the unit is shown with each number
		}
		if of := among.sdLabels[label]; of >= 0 {
			t.sdYAML = ", sd: " + dataset.YAMLText(d.Book.Labels[of].Name)
		}
		t.Least, t.Most, t.From, t.To = numbers[0], numbers[n-1], numbers[(n-1)/4], numbers[n-1-(n-1)/4]
		t.yamlComment = fmt.Sprintf("or %s: true, or between: [%v, %v], the middle half of %v to %v", t.Directions[1], t.From, t.To, t.Least, t.Most) + numbersComment(numbers, failed)
		return t
	}
	if len(l.Classes) == 0 {
		t.Why = "it has no values"
		return t
	}
	order := make([]int, len(l.Classes))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return l.Counts[b] - l.Counts[a] })
	var classes []string
	for _, k := range order[:min(len(order), maxDraftClasses)] {
		classes = append(classes, fmt.Sprintf("%s %d", inputerr.Quote(l.Classes[k]), l.Counts[k]))
		t.Classes, t.Counts = append(t.Classes, l.Classes[k]), append(t.Counts, l.Counts[k])
	}
	comment := strings.Join(classes, ", ")
	if more := len(order) - maxDraftClasses; more > 0 {
		comment += fmt.Sprintf(" and %d more", more)
	}
	switch {
	case len(l.Classes) == 1:
		t.Why = "all recipes have " + comment
	case 2*len(l.Classes) > t.Known:
		t.Why = "most values occur only once, so kir cannot learn them"
	default:
		t.yamlComment, t.Directions = comment, []config.Direction{WantClass, SureClass}
	}
	return t
}

// Keys of constraints that do not depend on a column; see [Bound].
const (
	WithinBookKey = "within" // the constraint that amounts stay within the amounts of the recipes
	StockBoundKey = "stock"  // the constraint that the stock is enough
	AlwaysUsedKey = "always" // the constraint that requires the ingredients of all recipes
)

// maxPercentageRules is the maximum number of distinct values of an attribute with percentages without
// percent signs. If there are more values, no rules are written for the attribute.
const maxPercentageRules = 60

// OfferedBounds returns the constraints that most problems need, and whether the draft has each constraint.
// By default the draft has doses as in the recipes, maxima and minima of ingredients, the stock, and the
// ingredients that all recipes use.
func (d *Draft) OfferedBounds() []Bound {
	var all []Bound
	if d.Series != nil {
		all = d.portfolioBounds()
	} else {
		all = d.bookBounds()
	}
	for i := range all {
		if on, ok := d.Bounds[all[i].Key]; ok {
			all[i].On = on
		}
	}
	return all
}

// bookBounds returns the constraints that the recipes and the attributes of the ingredients suggest.
func (d *Draft) bookBounds() []Bound {
	all := []Bound{{Key: WithinBookKey, Words: "Amounts within the range in your recipes", Lines: []string{`amount: {of: "*", within: book}`}, Note: "amounts within those of your recipes", On: true}}
	for i := range d.Book.Ingredients.Attributes {
		a := &d.Book.Ingredients.Attributes[i]
		numbers, err := a.Numbers()
		known := slices.DeleteFunc(slices.Clone(numbers), math.IsNaN)
		if err != nil || len(known) == 0 {
			continue
		}
		switch name := dataset.YAMLText(a.Name); a.Meaning() {
		case dataset.Maximum, dataset.Minimum:
			key, words, note := "max", "Each ingredient at most its "+a.Name, "an empty cell sets no limit"
			if a.Meaning() == dataset.Minimum {
				key, words = "min", "Each ingredient at least its "+a.Name
			}
			b := Bound{Key: attributeKey(a.Name), Words: words, Note: note, On: true}
			if a.IsPercent() {
				b.Lines = []string{fmt.Sprintf(`amount: {of: "*", %s: %s}`, key, name)}
			} else if b.Lines, b.Note = d.percentageRules(a, known, key); b.Lines == nil {
				continue
			} else {
				b.Words += ", in percent"
			}
			all = append(all, b)
		case dataset.Stock:
			batch := d.stockBatch(a)
			all = append(all, Bound{Key: StockBoundKey, Words: "Within the stock, for " + batch, Note: "within the stock, for a batch of this size",
				Lines: []string{fmt.Sprintf(`amount: {of: "*", stock: %s, batch: %s}`, name, batch)}, On: true})
		case dataset.Price:
			if len(known) < len(numbers) {
				continue
			}
			most := d.medianRecipeMean(numbers)
			_, unit := dataset.SplitHeaderUnit(a.Name)
			all = append(all, Bound{Key: attributeKey(a.Name), Words: strings.TrimSpace(fmt.Sprintf("%s at most %v %s, as in half of your recipes", a.Name, most, unit)),
				Lines: []string{fmt.Sprintf("limit: {attribute: %s, max: %v}", name, most)}, Note: fmt.Sprintf("the mean of a recipe; ingredients have %v to %v", slices.Min(numbers), slices.Max(numbers))})
		}
	}
	if names := d.alwaysUsedIngredients(); len(names) > 0 {
		var texts []string
		for _, name := range names {
			texts = append(texts, dataset.YAMLText(name))
		}
		all = append(all, Bound{Key: AlwaysUsedKey, Words: "Always " + inputerr.List(names, maxRequired) + ", as in all recipes", Lines: []string{"require: [" + strings.Join(texts, ", ") + "]"}, Note: "all recipes have it", On: true})
	}
	return all
}

// A draft requires the ingredients that all recipes use, if there are enough recipes and few such
// ingredients.
const (
	minRecipesForRequire = 5  // minimum number of recipes
	maxRequired          = 12 // maximum number of ingredients that all recipes use
)

// alwaysUsedIngredients returns the names of the ingredients that all recipes use. It returns nil if there
// are too few recipes or too many such ingredients.
func (d *Draft) alwaysUsedIngredients() (names []string) {
	if len(d.Book.Recipes) < minRecipesForRequire {
		return nil
	}
	uses := make([]int, d.Book.Ingredients.Len())
	for _, r := range d.Book.Recipes {
		for _, p := range r.Parts {
			uses[p.Ingredient]++
		}
	}
	for i, n := range uses {
		if n == len(d.Book.Recipes) {
			names = append(names, d.Book.Ingredients.Names[i])
		}
	}
	if len(names) > maxRequired {
		return nil
	}
	return names
}

// percentageRules returns rules as lines of a problem file, for an attribute that has percentages without
// percent signs. There is one rule for each distinct value, in units of the total, rounded so that the
// percentage is kept. The parameter key is min or max.
func (d *Draft) percentageRules(a *dataset.Attribute, known []float64, key string) (lines []string, note string) {
	slices.Sort(known)
	distinct := slices.Compact(slices.Clone(known))
	if len(distinct) > maxPercentageRules || distinct[0] < 0 || distinct[len(distinct)-1] > 100 {
		return nil, ""
	}
	scale := 100.0
	if distinct[len(distinct)-1] <= 1 {
		scale = 1 // the values are shares
	}
	texts := make(map[float64][]string)
	numbers, _ := a.Numbers() // the caller has checked that they are numbers
	for i, v := range numbers {
		if !math.IsNaN(v) && !slices.Contains(texts[v], a.Values[i]) {
			texts[v] = append(texts[v], a.Values[i])
		}
	}
	for _, v := range distinct {
		units := math.Floor(float64(v/scale*float64(d.totalUnits())) + 1e-9)
		if key == "min" {
			units = math.Ceil(float64(v/scale*float64(d.totalUnits())) - 1e-9)
		}
		for _, text := range texts[v] {
			of := fmt.Sprintf("{%s: %q}", dataset.YAMLText(a.Name), text)
			switch {
			case units >= 1 && (key == "min" || units < float64(d.totalUnits())):
				lines = append(lines, fmt.Sprintf("amount: {of: %s, %s: %.0f}", of, key, units))
			case units < 1 && key == "max":
				lines = append(lines, fmt.Sprintf("exclude: [%s]", of))
			}
		}
	}
	return lines, "its numbers are taken for percent"
}

// stockBatch returns the size for which the stock must be enough: Batch, or else the first size that
// [Draft.Batches] returns.
func (d *Draft) stockBatch(a *dataset.Attribute) string {
	if d.Batch != "" {
		return d.Batch
	}
	return d.Batches()[0]
}

// Batches returns possible sizes for which the stock must be enough: 1, 10 and 100 times a first size. That
// is the median size of the recipes, if their unit converts to the unit of the stock. Otherwise it is 100 g,
// mg or ml, or 1 of another unit. Batches returns nil if no column has a stock.
func (d *Draft) Batches() []string {
	for i := range d.Book.Ingredients.Attributes {
		a := &d.Book.Ingredients.Attributes[i]
		if a.Meaning() != dataset.Stock {
			continue
		}
		_, unit := dataset.SplitHeaderUnit(a.Name)
		if unit == "" || strings.ContainsAny(unit, "0123456789%/-") {
			unit = a.Affix
		}
		if strings.ContainsAny(unit, "%€$£¥") {
			unit = ""
		}
		first := 1.0
		if unit == "g" || unit == "ml" || unit == "mg" {
			first = 100
		}
		if size := d.medianRecipeSize(unit); size > 0 {
			first = size
		}
		var all []string
		for _, times := range []float64{1, 10, 100} {
			all = append(all, strings.TrimSpace(plainNumber(float64(first*times))+" "+unit))
		}
		return all
	}
	return nil
}

// Numbers of recipes made at a time by default.
const (
	usualBatchSize = 8    // number of recipes made at a time, if they are not drinks
	drinkBatchSize = 3    // number of drinks made at a time
	maxDrinkVolume = 1000 // recipes with a smaller median size, in millilitres, are drinks
)

// BatchSize returns the number of recipes made at a time: Round, or else a default number.
func (d *Draft) BatchSize() int {
	if d.RecipesPerBatch > 0 {
		return d.RecipesPerBatch
	}
	if size := d.medianRecipeSize("ml"); size > 0 && size < maxDrinkVolume {
		return drinkBatchSize
	}
	return usualBatchSize
}

// plainNumber returns the text of a number above 0, rounded to two significant digits and without an
// exponent.
func plainNumber(v float64) string {
	digits := max(math.Floor(portable.Log10(v)), -6)
	scale := portable.Pow(10, digits-1)
	text := strconv.FormatFloat(float64(math.Round(v/scale)*scale), 'f', max(0, 1-int(digits)), 64)
	return strings.TrimSuffix(text, ".0")
}

// medianRecipeSize returns the median size of the recipes in a unit, or 0 if their amounts do not convert to
// that unit.
func (d *Draft) medianRecipeSize(unit string) float64 {
	of, ok := measure.DefaultUnits().Lookup(unit)
	if !ok || unit == "" {
		return 0
	}
	var sizes []float64
	for _, r := range d.Book.Recipes {
		sum := 0.0
		for _, p := range r.Parts {
			if p.Unit == nil || p.Unit.Kind != of.Kind {
				return 0
			}
			base, _ := p.Base().Float64()
			sum += base
		}
		sizes = append(sizes, sum)
	}
	if len(sizes) == 0 {
		return 0
	}
	slices.Sort(sizes)
	size, _ := of.Size.Rat().Float64()
	return sizes[len(sizes)/2] / size
}

// medianRecipeMean returns the median over the recipes of the weighted mean of numbers, which has one number
// for each ingredient. It rounds to three significant digits.
func (d *Draft) medianRecipeMean(numbers []float64) float64 {
	var means []float64
	for _, r := range d.Book.Recipes {
		sum, all := 0.0, 0.0
		for _, p := range r.Parts {
			base, _ := p.Base().Float64()
			sum += float64(base * numbers[p.Ingredient])
			all += base
		}
		means = append(means, sum/all)
	}
	if len(means) == 0 {
		return roundedMean(numbers)
	}
	slices.Sort(means)
	return roundedMean(means[len(means)/2 : len(means)/2+1])
}
