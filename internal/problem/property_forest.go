package problem

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"kir/internal/config"
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/model"
	"kir/property"
)

var forestKind = propertyKind{
	PropertyKind:  config.PropertyKind{Key: newKey("forest", schema.Link("forest"), "", "a label, by a random forest", "{forest: {label: taste, want: Fresh}}")},
	Sections:      forestSections,
	read:          readForest,
	readOnce:      true,
	hasDirections: true,
}

// forestSections describe a forest and its added features.
var forestSections = schema.Sections{
	{
		Name: "a forest", ID: "forest",
		About: "A label, or a file, and one thing that is asked of it: `want`, bounds, or a direction.",
		Keys: append(labelKeys("{label: taste, want: Fresh}", "{label: taste, want: [Fresh, Sour]}"),
			newKey("trees", schema.Integer(1, model.MaxTrees), "100; 300 with best splits to maximize or minimize", "trees", "{label: taste, want: Fresh, trees: 200}"),
			newKey("splits", schema.Choice("random", "best"), "`random`; `best` if `features` is given", "whether a split tries one threshold of each feature, drawn at random, or all", "{label: taste, want: Fresh, splits: best}"),
			newKey("features", schema.Integer(1, schema.MaxIngredients), "√F for classes, at least 10, and all for numbers; with best splits √F and F/3", "features tried at a split, of F", "{label: taste, want: Fresh, features: 3}"),
			newKey("leaf", schema.Integer(1, 1<<30), "1; 5 for numbers with best splits", "recipes in the smallest leaf", "{label: taste, want: Fresh, leaf: 2}"),
			floorKey("{label: taste, want: Fresh, floor: 0.01}"),
			newKey("seed", schema.Seed(), "1", "of the forest's random numbers", "{label: taste, want: Fresh, seed: 3}"),
			newKey("add", schema.Link("added features"), "none", "more features than the amounts", "{label: taste, want: Fresh, add: {totals: family}}"),
			newKey("file", schema.Text("file"), "grown", "a forest that `kir train` saved", "{file: taste.forest, want: Fresh}"),
		),
		ExactlyOneOf: []string{"want", "at_least at_most", "between", "maximize", "minimize"},
		AtLeastOneOf: []string{"label", "file"},
		Excludes:     map[string]string{"file": "trees splits features leaf seed add"},
	},
	{
		Name: "add", ID: "added features", About: "Features of a forest beside the amounts. [models.md](models.md#forests-of-descriptors) says what each is.",
		Keys: []schema.Key{
			newKey("totals", schema.OneOrMore(schema.Text("attribute"), 0), "none", "the total of each group of an attribute", "{totals: [family, note]}"),
			newKey("means", schema.OneOrMore(schema.Text("attribute"), 0), "none", "the mean of an attribute of numbers, weighted by amounts", "{means: cost}"),
			newKey("ratios", schema.OneOrMore(schema.Text("attribute"), 0), "none", "the log-ratio of the totals of each two groups of an attribute", "{ratios: family}"),
			newKey("amounts", schema.Boolean(), "`true`", "the amounts themselves", "{totals: family, amounts: false}"),
			newKey("presence", schema.Boolean(), "`false`", "whether an ingredient, or any of a group, is there at all", "{presence: true}"),
		},
		Extra: []schema.Object{{"anyOf": []schema.Object{
			{"not": schema.Object{"required": []string{"amounts"}, "properties": schema.Object{"amounts": schema.Object{"const": false}}}},
			{"required": []string{"totals"}}, {"required": []string{"means"}}, {"required": []string{"ratios"}}, {"required": []string{"presence"}},
		}}},
	},
}

// readForest reads a property that scores a label by a random forest.
func readForest(ctx context.Context, s *readContext, n *yaml.Node, f fields) (Property, error) {
	least, err := readFloor(f)
	if err != nil {
		return Property{}, err
	}
	want, at, err := readWant(n, f)
	if err != nil {
		return Property{}, err
	}
	if s.learnsLater && f["file"] == nil {
		return readLearning(s, n, f, want)
	}
	var data *model.Data
	var grown *model.Forest
	var resolved yaml.Map
	added := ""
	if file := f["file"]; file != nil {
		for _, key := range []string{"trees", "splits", "features", "leaf", "seed", "add"} {
			if f[key] != nil {
				return Property{}, yaml.Hint(f[key].Errorf("a forest from a file is grown already: %s has no effect", key), "remove it, or grow the forest with kir train")
			}
		}
		if grown, err = loadForest(ctx, s, file); err != nil {
			return Property{}, err
		}
		if v := f["label"]; v != nil && v.Text != grown.Label() {
			return Property{}, yaml.Hint(v.Errorf("the forest in the file predicts %s, not %s", inputerr.Quote(grown.Label()), v.Describe()), "name that label or leave it out")
		}
		if data, err = trainingData(ctx, s, grown); err != nil {
			return Property{}, file.PlaceError(err)
		}
		resolved.Set("file", file.Text)
	} else {
		features, words, err := readAddedFeatures(s, f["add"])
		if err != nil {
			return Property{}, err
		}
		added = words
		o := model.Options{Trees: 100, Seed: 1, Importances: true, Workers: s.workers}
		if o.Splits, err = readSplits(f); err != nil {
			return Property{}, err
		}
		if hasDirection(f) && o.Splits == model.BestSplits {
			o.Trees = directedTrees
		}
		for _, c := range []struct {
			key   string
			value *int
			max   int
		}{
			{"trees", &o.Trees, model.MaxTrees},
			{"features", &o.FeaturesPerSplit, max(len(features), len(s.Names))},
			{"leaf", &o.SmallestLeaf, 1 << 30},
		} {
			if v := f[c.key]; v != nil {
				if *c.value, err = v.Whole(c.key, 1, c.max); err != nil {
					return Property{}, err
				}
			}
		}
		if v := f["seed"]; v != nil {
			if o.Seed, err = v.Uint64("the seed"); err != nil {
				return Property{}, err
			}
		}
		if data, grown, err = growForest(ctx, s, n, f["label"], features, o); err != nil {
			return Property{}, err
		}
		used := grown.Options()
		resolved.Set("trees", used.Trees)
		resolved.Set("splits", used.Splits.String())
		resolved.Set("features", used.FeaturesPerSplit)
		resolved.Set("leaf", used.SmallestLeaf)
		resolved.Set("seed", used.Seed)
	}
	var recipes []int
	if data != nil {
		label, _ := s.Book.Label(grown.Label())
		recipes = recipesWith(label)
	}
	score, err := grown.Score(want)
	if err != nil {
		return Property{}, wantError(at, grown, err)
	}
	if err := checkLabelBounds(s, at, grown, data, want); err != nil {
		return Property{}, err
	}
	resolved.Set("label", grown.Label())
	resolved.Set("floor", least)
	resolved.CopyKeys(n, "want", "at_least", "at_most", "between", "maximize", "minimize", "add")
	class := ""
	if !grown.Numeric() {
		class = want.String()
	}
	known := newForestLearnt(grown, data, recipes, score, least)
	return Property{
		About:      grown.Label() + " " + want.String() + added,
		Model:      grown,
		Unit:       UnitOf(grown),
		Class:      class,
		learnt:     known,
		valueScale: func() (*valueScale, error) { return forestScale(grown, known) },
		property:   property.NewForest(score, least),
		resolved:   resolved,
	}, nil
}

// A Learning describes a property to learn, of a problem that is read for a campaign. The campaign decides
// how to learn it.
type Learning struct {
	Label    string
	Want     model.Want
	Numeric  bool            // the label has numbers, not classes
	Features []model.Feature // nil: the amounts of the ingredients
	Log      bool            // learn the logarithm of the number
	SD       string          // label with the standard deviations of the numbers; empty: none
	Failures *[]string       // further values that mark a recipe as failed, beside those of [dataset.IsFailure]; nil: no recipe counts as failed
	Limit    *LearntLimit    // the limit for which this is the objective; its property has the model; nil: none
}

// Measured returns the numbers of a label, NaN if missing, and which recipes failed.
func (l *Learning) Measured(label *dataset.Label) (numbers []float64, failed []bool, err error) {
	if l.Failures != nil {
		return label.Measured(*l.Failures...)
	}
	numbers, err = label.Numbers()
	return numbers, make([]bool, len(numbers)), err
}

// Spreads returns the standard deviations of the numbers of a book's recipes, NaN if missing. It returns
// nil if no label has them.
func (l *Learning) Spreads(b *dataset.Book) ([]float64, error) {
	if l.SD == "" || b == nil {
		return nil, nil
	}
	label, ok := b.Label(l.SD)
	if !ok || len(label.Classes) == 0 {
		return nil, nil // the column is empty
	}
	sd, _, err := label.Measured()
	if err != nil {
		return nil, err
	}
	for _, v := range sd {
		if v < 0 {
			return nil, negativeSpread(v, label)
		}
	}
	return sd, nil
}

// negativeSpread returns the error for a negative standard deviation.
func negativeSpread(v float64, label *dataset.Label) error {
	return &inputerr.Error{Message: fmt.Sprintf("a recipe has the standard deviation %v in %s", v, inputerr.Quote(label.Name)), Hint: "it is 0 or more: correct the number, or name another column"}
}

// readLearning reads the description of a property to learn, without learning it.
func readLearning(s *readContext, n *yaml.Node, f fields, want model.Want) (Property, error) {
	if f["label"] == nil {
		return Property{}, yaml.Hint(n.Errorf("there is no label to learn"), "name the label that is measured")
	}
	label, err := f["label"].Str("the label")
	if err != nil {
		return Property{}, err
	}
	label = dataset.NormalizeName(label)
	features, words, err := readAddedFeatures(s, f["add"])
	if err != nil {
		return Property{}, err
	}
	l := &Learning{Label: label, Want: want, Numeric: n.Get("want") == nil, Features: features}
	if err := l.readNumberKeys(f); err != nil {
		return Property{}, err
	}
	if known, ok := findLabel(s, label); ok && l.Numeric {
		numbers, _, err := l.Measured(known)
		if err != nil {
			return Property{}, f["label"].PlaceError(err)
		}
		for _, v := range numbers {
			if l.Log && v <= 0 {
				return Property{}, yaml.Hint(f["log"].Errorf("a recipe has %v for the label %s, which has no logarithm", v, inputerr.Quote(label)), "remove log, or correct the number")
			}
		}
	}
	return Property{About: label + " " + want.String() + words, Learning: l, resolved: yaml.Map{}}, nil
}

// readNumberKeys reads the keys that learn and process have in addition to those of forest.
func (l *Learning) readNumberKeys(f fields) (err error) {
	if l.Log, err = readLog(f["log"]); err != nil {
		return err
	}
	if n := f["sd"]; n != nil {
		if l.SD, err = n.Str("the column of standard deviations"); err != nil {
			return err
		}
		l.SD = dataset.NormalizeName(l.SD)
	}
	words, err := failureWords(f["failed"])
	if err == nil && l.Numeric {
		l.Failures = &words
	}
	return err
}

// findLabel returns a label of the book, and whether at least one recipe has it.
func findLabel(s *readContext, name string) (*dataset.Label, bool) {
	if s.Book == nil {
		return nil, false
	}
	l, ok := s.Book.Label(name)
	return l, ok && len(l.Classes) > 0
}

// wantError returns the error for a request that a model cannot serve.
func wantError(at *yaml.Node, m Predictor, err error) error {
	e := at.Errorf("%v", err)
	for _, item := range at.ItemsOrSelf() {
		if item.Kind == yaml.Text && !slices.Contains(m.Classes(), item.Text) {
			e.Hint = inputerr.DidYouMean(item.Text, m.Classes())
			break
		}
	}
	return e
}

// readSplits reads how splits are made. The default is random splits. If features is given without splits,
// it is best splits, because older problem files were written that way.
func readSplits(f fields) (model.Splits, error) {
	v := f["splits"]
	if v == nil {
		if f["features"] != nil {
			return model.BestSplits, nil
		}
		return model.RandomSplits, nil
	}
	of, err := model.ParseSplits(v.Text)
	if err != nil || v.Kind != yaml.Text {
		return of, yaml.Hint(v.Errorf("splits are %s", v.Describe()), "write random or best")
	}
	return of, nil
}

// readAddedFeatures returns the features that a forest's splits test, with a description. It returns nil
// for the amounts alone; see [Descriptors].
//
//	add: {totals: family, means: cost, ratios: note, presence: true, amounts: false}
func readAddedFeatures(s *readContext, n *yaml.Node) (features []model.Feature, words string, err error) {
	if n == nil {
		return nil, "", nil
	}
	f, err := forestSections.ByID("added features").Fields(n)
	if err != nil {
		return nil, "", err
	}
	d := describer{names: s.Names, total: s.Total}
	for _, key := range []string{"totals", "means", "ratios"} {
		v := f[key]
		if v == nil {
			continue
		}
		var known []string
		for _, a := range v.ItemsOrSelf() {
			name, err := a.Str("the attribute")
			if err != nil {
				return nil, "", err
			}
			if name = dataset.NormalizeName(name); slices.Contains(known, name) {
				return nil, "", yaml.Hint(a.Errorf("the %s by %s are added twice", key, inputerr.Quote(name)), "name each attribute once")
			}
			known = append(known, name)
			if err := d.add(s, key, a, name); err != nil {
				return nil, "", placedAt(a, err)
			}
		}
	}
	presence, amounts := false, true
	for key, value := range map[string]*bool{"presence": &presence, "amounts": &amounts} {
		if v := f[key]; v != nil {
			if v.Kind != yaml.Boolean {
				return nil, "", yaml.Hint(v.Errorf("%s is %s", key, v.Describe()), "write true or false")
			}
			*value = v.Plain() == true
		}
	}
	if d.made == nil && !presence && amounts {
		return nil, "", nil
	}
	if features, err = d.allFeatures(presence, !amounts); err != nil {
		return nil, "", placedAt(n, err)
	}
	return features, ", from " + d.words(), nil
}

// placedAt places an error about features at a node, unless it has a place.
func placedAt(at *yaml.Node, err error) error {
	if bad, ok := err.(*inputerr.Error); ok && bad.File == "" {
		return yaml.Hint(at.Errorf("%s", bad.Message), "%s", bad.Hint)
	}
	return at.PlaceError(err)
}

// add makes the features of an attribute named in a problem.
func (d *describer) add(s *readContext, key string, at *yaml.Node, name string) error {
	if key == "means" {
		values, err := s.AttributeNumbers(at, name)
		if err != nil {
			return err
		}
		return d.addMean(name, values)
	}
	a, err := s.Attribute(at, name)
	if err != nil {
		return err
	}
	if key == "ratios" {
		return d.addRatios(a)
	}
	d.addTotals(a)
	return nil
}

// objectiveCountText describes that a model is asked for nothing, or for several things at once.
func objectiveCountText(what string, given []string) string {
	if len(given) == 0 {
		return "nothing is asked of " + what
	}
	return strings.Join(given, " and ") + " are asked of " + what + " at once"
}

// readWant reads the objective of a forest. at is the node for errors about it.
func readWant(n *yaml.Node, f fields) (want model.Want, at *yaml.Node, err error) {
	var given []string
	for _, key := range []string{"want", "at_least", "at_most", "between", "maximize", "minimize"} {
		if f[key] != nil {
			given = append(given, key)
			at = f[key]
		}
	}
	if len(given) == 2 && given[0] == "at_least" && given[1] == "at_most" {
		low, err := f["at_least"].Float("at_least")
		if err != nil {
			return want, at, err
		}
		high, err := f["at_most"].Float("at_most")
		return model.Between(low, high), at, err
	}
	if len(given) != 1 {
		return want, at, yaml.Hint(n.Errorf("%s", objectiveCountText("the forest", given)), "say want: a class or a list of classes; or for a number maximize: true, minimize: true, at_least, at_most or between")
	}
	switch given[0] {
	case "maximize", "minimize":
		want, err := readDirection(given[0], at)
		return want, at, err
	case "want":
		var classes []string
		for _, item := range at.ItemsOrSelf() {
			class, err := item.Str("the wanted class")
			if err != nil {
				return want, at, err
			}
			classes = append(classes, dataset.NormalizeName(class))
		}
		return model.AnyOf(classes...), at, nil
	case "at_least":
		low, err := at.Float("at_least")
		return model.AtLeast(low), at, err
	case "at_most":
		high, err := at.Float("at_most")
		return model.AtMost(high), at, err
	}
	items, err := at.List("between")
	if err != nil {
		return want, at, err
	}
	if len(items) != 2 {
		return want, at, yaml.Hint(at.Errorf("between has %s", inputerr.Count(len(items), "number")), "write the lowest and the highest, such as [3, 4]")
	}
	low, err := items[0].Float("the lowest number")
	if err != nil {
		return want, at, err
	}
	high, err := items[1].Float("the highest number")
	if err == nil && low > high {
		err = yaml.Hint(at.Errorf("no number is between %v and %v", low, high), "write the lower one first")
	}
	return model.Between(low, high), at, err
}

// growForest grows a forest from the known recipes.
func growForest(ctx context.Context, s *readContext, n, labelNode *yaml.Node, features []model.Feature, o model.Options) (*model.Data, *model.Forest, error) {
	book := s.Book
	if book == nil {
		return nil, nil, yaml.Hint(n.Errorf("a forest is grown from recipes, and the problem has none"), "add recipes: a CSV file, or load a forest with file")
	}
	if labelNode == nil {
		return nil, nil, yaml.Hint(n.Errorf("there is no label to learn"), "%s", labelsHint(book))
	}
	name, err := labelNode.Str("the label")
	if err != nil {
		return nil, nil, err
	}
	label, ok := book.Label(name)
	if !ok {
		return nil, nil, yaml.Hint(labelNode.Errorf("the recipes have no label %s", labelNode.Describe()), "%s", labelsHint(book))
	}
	numeric := n.Get("want") == nil
	if !numeric {
		if err := checkFewClasses(n.Get("want"), label); err != nil {
			return nil, nil, err
		}
	}
	data, err := forestData(book, label, s.Total, numeric, features)
	if err != nil {
		return nil, nil, labelNode.PlaceError(err)
	}
	f, err := s.modelCache.grow(ctx, data, o)
	if err != nil {
		return nil, nil, labelNode.PlaceError(err)
	}
	return data, f, nil
}

func labelsHint(book *dataset.Book) string {
	if len(book.Labels) == 0 {
		return "they have none: add a column, and in the wide form name it under labels"
	}
	names := make([]string, len(book.Labels))
	for k := range book.Labels {
		names[k] = book.Labels[k].Name
	}
	return "they have " + inputerr.List(names, 12)
}

// maxForestBytes is the greatest number of bytes read from a forest's file.
const maxForestBytes = 1 << 30

// loadForest loads a forest that kir train saved, alone or within a model, for this problem's ingredients
// and total.
func loadForest(ctx context.Context, s *readContext, n *yaml.Node) (*model.Forest, error) {
	var f *model.Forest
	err := s.Files.Read(ctx, n, "the file of the forest", func(r io.Reader, _ string) (err error) {
		text, err := io.ReadAll(io.LimitReader(r, maxForestBytes))
		if err != nil {
			return err
		}
		if !model.IsLearned(text) {
			f, err = model.Read(bytes.NewReader(text))
			return err
		}
		m, err := model.ReadLearned(ctx, bytes.NewReader(text))
		if err != nil {
			return err
		}
		if f = m.Forest(); f == nil {
			return errors.New("it is a Gaussian process alone")
		}
		return nil
	})
	if err != nil {
		if bad := (*inputerr.Error)(nil); errors.As(err, &bad) || ctx.Err() != nil {
			return nil, err
		}
		return nil, yaml.Hint(n.Errorf("%s is no forest that can be used: %v", inputerr.Quote(n.Text), err), "save it anew with kir train")
	}
	return f, checkFits(s, n, f.Total(), f.Ingredients())
}

// checkFits returns an error for a model of another total or of other ingredients.
func checkFits(s *readContext, n *yaml.Node, total int, names []string) error {
	if total != s.Total {
		return yaml.Hint(n.Errorf("the forest was grown for a total of %d units and the problem has %d", total, s.Total), "change the total, or grow it with kir train --total %d", s.Total)
	}
	for k, name := range s.Names {
		if k >= len(names) || names[k] != name {
			return yaml.Hint(n.Errorf("the forest was grown on other ingredients: the problem's number %d is %s", k+1, inputerr.Quote(name)), "%s", regrowHint(s.Table))
		}
	}
	if len(names) != len(s.Names) {
		return yaml.Hint(n.Errorf("the forest was grown on %d ingredients and the problem has %d", len(names), len(s.Names)), "%s", regrowHint(s.Table))
	}
	return nil
}

// trainingData returns the training data of a forest from a file if they are the known recipes. Otherwise
// it returns nil and warns.
func trainingData(ctx context.Context, s *readContext, f *model.Forest) (*model.Data, error) {
	if s.Book == nil {
		return nil, nil
	}
	label, ok := s.Book.Label(f.Label())
	if ok {
		data, err := forestData(s.Book, label, s.Total, f.Numeric(), nil)
		if err == nil {
			if ok, err = f.IsGrownFrom(ctx, data); err != nil || ok {
				return data, err
			}
		}
	}
	s.Warn(fmt.Sprintf("The forest for %s was not grown from these recipes: they are not scored beside the shortlist, as nobody knows which of them it has seen, and what it promises is not checked.", f.Label()))
	return nil, nil
}

// regrowHint says how to grow a forest that fits the problem. table is the ingredients file, or empty.
func regrowHint(table string) string {
	if table != "" {
		return "grow it with kir train --ingredients " + inputerr.Quote(table)
	}
	return "grow it on these recipes with kir train"
}
