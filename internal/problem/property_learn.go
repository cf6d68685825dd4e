package problem

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"kir/internal/config"
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/mcmc"
	"kir/model"
	"kir/property"
)

// learntTrees is the number of trees in a forest of a learnt model. With random splits, more trees make no
// difference on held-out rows.
const learntTrees = 100

var learnKind = propertyKind{
	PropertyKind: config.PropertyKind{Key: newKey("learn", schema.Link("learn"), "", "a label of the recipes, by the best model that they allow", "{learn: {label: taste, want: Fresh}}")},
	Sections: schema.Sections{{
		Name: "what is learnt", ID: "learn",
		About: "A label and one thing that is asked of it: `want`, bounds, or a direction. [models.md](models.md#what-is-learnt) says how it is learnt.",
		Keys: append(append(labelKeys("{label: taste, want: Fresh}", "{label: taste, want: [Fresh, Sour]}"), numberKeys()...),
			newKey("trees", schema.Integer(1, model.MaxTrees), "100", "trees of the forest", "{label: taste, want: Fresh, trees: 200}"),
			floorKey("{label: taste, want: Fresh, floor: 0.01}"),
			newKey("seed", schema.Seed(), "1", "of the forest's random numbers", "{label: taste, want: Fresh, seed: 3}"),
			newKey("file", schema.Text("file"), "learnt", "a model that `kir train` saved", "{file: taste.model, want: Fresh}"),
		),
		AtLeastOneOf: []string{"label", "file"},
		ExactlyOneOf: []string{"want", "at_least at_most", "between", "maximize", "minimize"},
		Excludes:     map[string]string{"want": "log sd failed", "file": "log sd failed trees seed"},
	}},
	read:          readLearnt(model.Best),
	hasDirections: true,
}

var processKind = propertyKind{
	PropertyKind: config.PropertyKind{Key: newKey("process", schema.Link("process"), "", "a label that is a number, by a Gaussian process", "{process: {label: stars, maximize: true}}")},
	Sections: schema.Sections{{
		Name: "a Gaussian process", ID: "process",
		About:        "A label that is a number and one thing that is asked of it: bounds, or a direction.",
		Keys:         append(append(labelKeys("{label: stars, maximize: true}", ""), numberKeys()...), floorKey("{label: stars, maximize: true, floor: 0.01}")),
		Required:     []string{"label"},
		ExactlyOneOf: []string{"at_least at_most", "between", "maximize", "minimize"},
	}},
	read:          readLearnt(model.ProcessAlone),
	hasDirections: true,
}

// labelKeys returns the keys for learning a label of the recipes: the label, and its objective.
func labelKeys(label, wanted string) []schema.Key {
	keys := []schema.Key{newKey("label", schema.Text("label"), "", "a label of the recipes", label)}
	if wanted != "" {
		keys = append(keys, newKey("want", schema.OneOrMore(schema.Text("class"), 1), "", "a class, or any of several", wanted))
	}
	return append(keys,
		newKey("at_least", schema.Number(), "", "a number of at least this; `at_most` may stand beside it", "{label: stars, at_least: 4}"),
		newKey("at_most", schema.Number(), "", "a number of at most this", "{label: stars, at_least: 2, at_most: 4}"),
		newKey("between", schema.Pair(schema.Number()), "", "a number from the first to the second", "{label: stars, between: [3, 5]}"),
		newKey("maximize", schema.OnlyTrue(), "", "as large a number as can be", "{label: stars, maximize: true}"),
		newKey("minimize", schema.OnlyTrue(), "", "as small a number as can be", "{label: stars, minimize: true}"),
	)
}

// numberKeys returns the keys that control how numbers of the recipes are read.
func numberKeys() []schema.Key {
	return []schema.Key{
		newKey("log", schema.Boolean(), "`false`", "learn the logarithm of numbers that are all above 0, such as those that span decades", "{label: stars, maximize: true, log: true}"),
		newKey("sd", schema.Text("label"), "", "a column of the recipes with the standard deviations of the numbers", "{label: stars, maximize: true, sd: stars sd}"),
		newKey("failed", schema.OneOrMore(schema.Text("value"), 0), "`failed`, `unstable`, `n/a` and the like", "further values of the label that say that a recipe failed", "{label: stars, maximize: true, failed: curdled}"),
	}
}

// readLearnt returns the reader of a property that is learnt from the known recipes.
func readLearnt(kind model.Kind) func(context.Context, *readContext, *yaml.Node, fields) (Property, error) {
	return func(ctx context.Context, s *readContext, n *yaml.Node, f fields) (Property, error) {
		return readLabel(ctx, s, n, f, kind)
	}
}

// readLabel reads a property and learns its label from the known recipes.
func readLabel(ctx context.Context, s *readContext, n *yaml.Node, f fields, kind model.Kind) (Property, error) {
	least, err := readFloor(f)
	if err != nil {
		return Property{}, err
	}
	want, at, err := readWant(n, f)
	if err != nil {
		return Property{}, err
	}
	for _, key := range []string{"log", "sd", "failed"} {
		if f["want"] != nil && f[key] != nil {
			return Property{}, yaml.Hint(f[key].Errorf("%s is of numbers, and a class is wanted", key), "remove it, or ask for bounds, maximize or minimize")
		}
	}
	if s.learnsLater && f["file"] == nil {
		return readLearning(s, n, f, want)
	}
	if file := f["file"]; file != nil {
		return loadLearnt(ctx, s, n, f, want, at, least)
	}
	o, words, err := learnOptions(s, f, kind)
	if err != nil {
		return Property{}, err
	}
	label, err := labelNamed(s, n, f["label"])
	if err != nil {
		return Property{}, err
	}
	if f["want"] != nil {
		if err := checkFewClasses(f["want"], label); err != nil {
			return Property{}, err
		}
	}
	data, recipes, failed, err := labelledData(s.Book, label, s.Total, f["want"] == nil, words)
	if err != nil {
		return Property{}, f["label"].PlaceError(err)
	}
	o.Failed = failed
	if data.SD, err = s.readSpreads(f["sd"], recipes); err != nil {
		return Property{}, err
	}
	m, err := s.modelCache.learn(ctx, data, o)
	if err != nil {
		return Property{}, f["label"].PlaceError(err)
	}
	warnFailures(s, label, words, data, failed)
	p, err := learntProperty(s, at, m, data, recipes, want, least)
	if err != nil {
		return Property{}, err
	}
	var resolved yaml.Map
	resolved.Set("label", label.Name)
	if kind == model.Best {
		resolved.Set("trees", o.Forest.Trees)
		resolved.Set("seed", o.Forest.Seed)
	}
	if m.Numeric() {
		resolved.Set("log", o.Log)
	}
	resolved.Set("floor", least)
	resolved.CopyKeys(n, "want", "at_least", "at_most", "between", "maximize", "minimize", "sd", "failed")
	p.resolved = resolved
	return p, nil
}

// learnOptions reads the options for learning a label, and the words that mark failures.
func learnOptions(s *readContext, f fields, kind model.Kind) (o model.LearnOptions, words []string, err error) {
	o = model.LearnOptions{Kind: kind, Forest: model.Options{Trees: learntTrees, Seed: 1, Importances: true, Workers: s.workers}}
	if v := f["trees"]; v != nil {
		if o.Forest.Trees, err = v.Whole("trees", 1, model.MaxTrees); err != nil {
			return o, nil, err
		}
	}
	if v := f["seed"]; v != nil {
		if o.Forest.Seed, err = v.Uint64("the seed"); err != nil {
			return o, nil, err
		}
	}
	if o.Log, err = readLog(f["log"]); err != nil {
		return o, nil, err
	}
	if kind == model.Best && s.Book != nil {
		o.Features = FeatureSets(s.Book.Ingredients, s.Total)
	}
	words, err = failureWords(f["failed"])
	return o, words, err
}

// readLog reads the key log.
func readLog(n *yaml.Node) (bool, error) {
	switch {
	case n == nil:
		return false, nil
	case n.Kind != yaml.Boolean:
		return false, yaml.Hint(n.Errorf("log is %s", n.Describe()), "write true or false")
	}
	return n.Plain() == true, nil
}

// learntProperty returns the property of a learnt model.
func learntProperty(s *readContext, at *yaml.Node, m *model.Learned, data *model.Data, recipes []int, want model.Want, least float64) (Property, error) {
	score, err := m.Score(want)
	if err != nil {
		return Property{}, wantError(at, m, err)
	}
	if err := checkLabelBounds(s, at, m, data, want); err != nil {
		return Property{}, err
	}
	class := ""
	if !m.Numeric() {
		class = want.String()
	}
	known := newLearnt(m, data, recipes, score, least)
	return Property{
		About:      describeLearnt(m, want),
		Model:      m,
		Unit:       UnitOf(m),
		Class:      class,
		learnt:     known,
		valueScale: func() (*valueScale, error) { return learntScale(m, known) },
		property:   property.NewLearned(score, least),
	}, nil
}

// loadLearnt reads a property whose model kir train saved.
func loadLearnt(ctx context.Context, s *readContext, n *yaml.Node, f fields, want model.Want, at *yaml.Node, least float64) (Property, error) {
	file := f["file"]
	for _, key := range []string{"trees", "seed", "log", "sd", "failed"} {
		if f[key] != nil {
			return Property{}, yaml.Hint(f[key].Errorf("a model from a file is learnt already: %s has no effect", key), "remove it, or learn the model with kir train")
		}
	}
	var m *model.Learned
	err := s.Files.Read(ctx, file, "the file of the model", func(r io.Reader, _ string) (err error) {
		m, err = model.ReadLearned(ctx, io.LimitReader(r, maxForestBytes))
		return err
	})
	if err != nil {
		if bad := (*inputerr.Error)(nil); errors.As(err, &bad) || ctx.Err() != nil {
			return Property{}, err
		}
		return Property{}, yaml.Hint(file.Errorf("%s is no model that can be used: %v", inputerr.Quote(file.Text), err), "save it anew with kir train; a forest is loaded by forest: {file: ...}")
	}
	if err := checkFits(s, file, m.Total(), m.Ingredients()); err != nil {
		return Property{}, err
	}
	if v := f["label"]; v != nil && v.Text != m.Label() {
		return Property{}, yaml.Hint(v.Errorf("the model in the file predicts %s, not %s", inputerr.Quote(m.Label()), v.Describe()), "name that label or leave it out")
	}
	data, recipes := matchTrainingData(s, file, m)
	p, err := learntProperty(s, at, m, data, recipes, want, least)
	if err != nil {
		return Property{}, err
	}
	var resolved yaml.Map
	resolved.Set("file", file.Text)
	resolved.Set("label", m.Label())
	resolved.Set("floor", least)
	resolved.CopyKeys(n, "want", "at_least", "at_most", "between", "maximize", "minimize")
	p.resolved = resolved
	return p, nil
}

// matchTrainingData returns the training data of a model from a file, with the indexes of their recipes, if
// they are the known recipes. Otherwise it returns nil and warns.
func matchTrainingData(s *readContext, file *yaml.Node, m *model.Learned) (*model.Data, []int) {
	if s.Book == nil {
		return nil, nil
	}
	if label, ok := s.Book.Label(m.Label()); ok {
		// Every value that is not a number may have marked a failed recipe.
		data, recipes, failed, err := labelledData(s.Book, label, s.Total, m.Numeric(), label.Classes)
		if err == nil && len(failed) == m.Failures() && m.IsLearntFrom(data) {
			return data, recipes
		}
	}
	s.Warn(fmt.Sprintf("The model of %s was not learnt from these recipes: they are not scored beside the shortlist, as nobody knows which of them it has seen, and what it promises is not checked.", m.Label()))
	return nil, nil
}

// describeLearnt describes the objective of a learnt model.
func describeLearnt(m *model.Learned, want model.Want) string {
	text := m.Label() + " " + want.String()
	if m.Options().Log {
		text += ", by its logarithm"
	}
	return text
}

// newLearnt returns the learntModel of a model, with which its predictions are checked.
func newLearnt(m *model.Learned, data *model.Data, recipes []int, score *model.LearnedScore, least float64) *learntModel {
	return &learntModel{
		data: data, recipes: recipes,
		want: score.Want(),
		heldOut: func() ([]float64, error) {
			scores := score.HeldOut()
			for r := range scores {
				scores[r] = math.Max(least, scores[r]) // NaN stays NaN
			}
			return scores, nil
		},
		predicted: func() ([]model.Prediction, error) {
			if !m.Numeric() {
				return nil, nil
			}
			return m.HeldOut(), nil
		},
		probability:   score.Stated,
		heldOutStated: func() ([]float64, error) { return score.HeldOutStated(), nil },
		calibrate:     func() (*model.Calibration, error) { return score.Calibrated(), nil },
		relearn: func(ctx context.Context, part *model.Data) (mcmc.Property, error) {
			again, err := m.Refit(ctx, part)
			if err != nil {
				return nil, err
			}
			want := score.Want()
			if len(data.Numbers) > 0 {
				want = want.Over(finiteRange(data.Numbers))
			}
			of, err := again.Score(want)
			if err != nil {
				return nil, err
			}
			return property.NewLearned(of, least), nil
		},
	}
}

// failureWords reads further values of a label that mark a recipe as failed.
func failureWords(n *yaml.Node) (words []string, err error) {
	if n == nil {
		return nil, nil
	}
	for _, item := range n.ItemsOrSelf() {
		word, err := item.Str("what says that a recipe failed")
		if err != nil {
			return nil, err
		}
		words = append(words, dataset.NormalizeName(word))
	}
	return words, nil
}

// readSpreads returns the standard deviations of the numbers of some recipes, NaN if missing. Without a
// node that names their column it returns nil.
func (s *readContext) readSpreads(n *yaml.Node, recipes []int) ([]float64, error) {
	if n == nil {
		return nil, nil
	}
	label, err := labelNamed(s, n, n)
	if err != nil {
		return nil, err
	}
	sd, err := standardDeviations(label, recipes)
	if err != nil {
		return nil, n.PlaceError(err)
	}
	return sd, nil
}

// standardDeviations returns the numbers of a label for some recipes, NaN if missing.
func standardDeviations(label *dataset.Label, recipes []int) ([]float64, error) {
	numbers, _, err := label.Measured()
	if err != nil {
		return nil, err
	}
	sd, known := make([]float64, len(recipes)), false
	for k, r := range recipes {
		if sd[k] = numbers[r]; sd[k] < 0 {
			return nil, negativeSpread(sd[k], label)
		}
		known = known || !math.IsNaN(sd[k])
	}
	if !known {
		return nil, &inputerr.Error{Message: "no recipe that is learnt from has a standard deviation in " + inputerr.Quote(label.Name), Hint: "fill in the column, or leave it out"}
	}
	return sd, nil
}

// UnitOf returns the unit in the name of a model's label; empty if it has none or is not numeric.
func UnitOf(m Predictor) string {
	if !m.Numeric() {
		return ""
	}
	_, unit := dataset.SplitHeaderUnit(m.Label())
	return unit
}

// Learn learns a label of a book's recipes from their amounts, closed to total units. The label has classes
// or numbers. sd is the label with the standard deviations of the numbers, or nil. Recipes whose value is
// among words, or always means failure, count as failed.
func Learn(ctx context.Context, b *dataset.Book, label, sd *dataset.Label, total int, numeric bool, words []string, o model.LearnOptions) (*model.Learned, error) {
	data, recipes, failed, err := labelledData(b, label, total, numeric, words)
	if err != nil {
		return nil, err
	}
	if sd != nil {
		if data.SD, err = standardDeviations(sd, recipes); err != nil {
			return nil, err
		}
	}
	o.Failed = failed
	if o.Kind == model.Best {
		o.Features = FeatureSets(b.Ingredients, total)
	}
	return model.Learn(ctx, data, o)
}

// labelNamed returns the label that node at names. Errors without a label are placed at n.
func labelNamed(s *readContext, n, at *yaml.Node) (*dataset.Label, error) {
	if s.Book == nil {
		return nil, yaml.Hint(n.Errorf("a model is learnt from recipes, and the problem has none"), "add recipes: a CSV file")
	}
	if at == nil {
		return nil, yaml.Hint(n.Errorf("there is no label to learn"), "%s", labelsHint(s.Book))
	}
	name, err := at.Str("the label")
	if err != nil {
		return nil, err
	}
	label, ok := s.Book.Label(name)
	if !ok {
		return nil, yaml.Hint(at.Errorf("the recipes have no label %s", at.Describe()), "%s", labelsHint(s.Book))
	}
	return label, nil
}

// labelledData returns the training data for a label, the indexes of its recipes in the book, and the
// recipes that failed.
func labelledData(b *dataset.Book, label *dataset.Label, total int, numeric bool, words []string) (data *model.Data, recipes []int, failed [][]model.Part, err error) {
	if !numeric {
		data, err = forestData(b, label, total, false, nil)
		return data, recipesWith(label), nil, err
	}
	numbers, failures, err := label.Measured(words...)
	if err != nil {
		return nil, nil, nil, err
	}
	data = &model.Data{Label: label.Name, Ingredients: b.Ingredients.Names, Total: total}
	for r := range b.Recipes {
		if math.IsNaN(numbers[r]) && !failures[r] {
			continue
		}
		row, err := recipeRow(b, r, total)
		if err != nil {
			return nil, nil, nil, err
		}
		if failures[r] {
			failed = append(failed, row)
			continue
		}
		data.Rows, data.Numbers = append(data.Rows, row), append(data.Numbers, numbers[r])
		recipes = append(recipes, r)
	}
	if len(data.Rows) == 0 {
		return nil, nil, nil, &inputerr.Error{File: b.File, Message: "no recipe has a number for the label " + inputerr.Quote(label.Name), Hint: "fill in the column"}
	}
	return data, recipes, failed, nil
}

// recipesWith returns the indexes of the recipes that have a value of a label.
func recipesWith(label *dataset.Label) (recipes []int) {
	for r, class := range label.ClassOf {
		if class >= 0 {
			recipes = append(recipes, r)
		}
	}
	return recipes
}

// recipeRow returns a recipe of a book, closed to the total.
func recipeRow(b *dataset.Book, r, total int) ([]model.Part, error) {
	amounts, err := b.Closure(r, total)
	if err != nil {
		return nil, err
	}
	row := make([]model.Part, len(amounts))
	for k, p := range b.Recipes[r].Parts {
		row[k] = model.Part{Ingredient: p.Ingredient, Amount: int32(amounts[k])}
	}
	return row, nil
}

// warnFailures warns that some recipes count as failed.
func warnFailures(s *readContext, label *dataset.Label, words []string, data *model.Data, failed [][]model.Part) {
	if len(failed) == 0 {
		return
	}
	var said []string
	for _, value := range label.Classes {
		if dataset.IsFailure(value) || slices.Contains(words, value) {
			said = append(said, inputerr.Quote(value))
		}
	}
	s.Warn(fmt.Sprintf("%d of %s failed, as their %s says (%s): they teach where recipes succeed, and the probability of success multiplies the score. Leave these cells empty if the recipes were only not measured.",
		len(failed), inputerr.Count(len(failed)+len(data.Rows), "recipe"), label.Name, strings.Join(said, ", ")))
}
