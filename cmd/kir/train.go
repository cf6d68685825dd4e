package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/spf13/cobra"

	"kir/internal/compile"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/report"
	"kir/internal/report/assemble"
	"kir/internal/report/view"
	"kir/model"
)

// trainOptions are the flags of kir train.
type trainOptions struct {
	label, sdColumn string
	labels, units   []string
	failedWords     []string
	layoutFlags     layoutFlags
	ingredientsFile string
	total           int

	kindName, splitsName          string
	isNumeric, logNumbers         bool
	readOptions                   dataset.Options // with which the table of recipes was read
	forest                        model.Options
	descriptors                   compile.Descriptors
	testsAmounts, choosesFeatures bool
	repeats                       int

	outputFile, figuresDirectory string
	asJSON                       bool
}

func newTrainCommand() *cobra.Command {
	o := &trainOptions{forest: model.Options{Importances: true}}
	c := &cobra.Command{
		Use:   "train RECIPES --label COLUMN [-o FILE]",
		Short: "Learn to predict a result (label) from recipes, and rate the model",
		Long: `Learn to predict a result (label) of recipes from their amounts, and print how well the
model predicts recipes that it has not seen. -o saves the model; a problem file uses the
saved model with the key learn: {file: FILE, maximize: true}.

The model is an average of many decision trees (random forest). For numbers, kir also
averages it with a smooth curve fit (Gaussian process), unless the forest alone predicts
better. --kind chooses one of the two. A problem file uses a forest alone with the key
forest: {file: FILE, want: ...}, and other models with learn.

A decision tree divides the recipes in two, and each part again, by one input of the
model (feature) at a time. Each division is a split; a part that is divided no further
is a leaf. --splits, --features, --leaf and --trees control this.

Features are the amounts of ingredients. kir also tries words in their names and, with
--ingredients, their attributes, such as family, and keeps these if they predict better.
To choose such features yourself, use --totals, --means, --ratios and --presence.
--choose tries several sets of features and sizes of trees, and keeps the simplest that
is nearly the best. Tests on recipes kept out of the training (cross-validation) make
these choices. Any of these five flags, --amounts, --splits, --features or --leaf makes
the model a forest alone. With attributes, a forest can predict recipes with new
ingredients. docs/models.md has the details.

Words such as failed or unstable in a column of numbers mean that a recipe failed; kir
learns the chance of success from them. In a column with such words, n/a means failed,
too, unless you add --unknown n/a; in other columns, it means not measured.

RECIPES is a table, CSV, .xlsx or .ods, with a row for each ingredient of each recipe
(columns recipe, ingredient, amount, unit and results), or a row for each recipe
(columns of ingredients and results). kir prints guesses about the table as messages;
flags override them.`,
		Example: `  kir train examples/cocktails/recipes.csv --label taste
  kir train examples/cocktails/recipes.csv --label taste -o taste.json
  kir train recipes.csv --label taste --ingredients ingredients.csv --totals family
  kir train recipes.csv --label taste --ingredients ingredients.csv --choose -o taste.json`,
		Args: requireOneArg("recipe file"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"csv", "xlsx", "tsv", "txt"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: o.run,
	}
	o.addFlags(c)
	return c
}

func (o *trainOptions) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&o.label, "label", "", "`COLUMN` with the result to predict")
	c.Flags().StringSliceVar(&o.labels, "labels", nil, "other `COLUMNS` of results or remarks, not ingredients, separated by commas, such as liking,remarks")
	c.Flags().StringSliceVar(&o.units, "units", nil, "size of a unit, `UNIT=AMOUNT`, such as 'piece=5 cl'")
	o.layoutFlags.addTo(c)
	c.Flags().StringVarP(&o.outputFile, "output", "o", "", "save the model in this `FILE`, which must not exist")
	c.Flags().IntVar(&o.total, "total", 1000, "`NUMBER` of steps in a recipe, the total of the problem")
	c.Flags().IntVar(&o.forest.Trees, "trees", 100, "`NUMBER` of trees")
	c.Flags().StringVar(&o.kindName, "kind", "", "`KIND` of model: learn (average of both), forest, or process (Gaussian process) (default learn)")
	c.Flags().BoolVar(&o.logNumbers, "log", false, "learn the logarithm of the result")
	c.Flags().StringVar(&o.sdColumn, "sd", "", "`COLUMN` with standard deviations of the result; imprecise results count less")
	c.Flags().StringSliceVar(&o.failedWords, "failed", nil, "more `WORDS` in the result column, separated by commas, that mean that a recipe failed")
	c.Flags().StringVar(&o.splitsName, "splits", "", "`RULE` for splits: random tries one random threshold per feature, best tries all (default random; best with --features or --choose)")
	c.Flags().IntVar(&o.forest.FeaturesPerSplit, "features", 0, "`NUMBER` of features that each split tries (default: see docs/problem.md)")
	c.Flags().IntVar(&o.forest.SmallestLeaf, "leaf", 0, "fewest recipes in a leaf, `NUMBER` (default 1; 5 if the result is a number and --splits is best)")
	c.Flags().StringVar(&o.ingredientsFile, "ingredients", "", "`FILE` with a table of the ingredients: the ingredients file of the problem")
	c.Flags().StringSliceVar(&o.descriptors.Totals, "totals", nil, "`ATTRIBUTES`, separated by commas, such as family; the total amount of each family becomes a feature")
	c.Flags().StringSliceVar(&o.descriptors.Means, "means", nil, "`ATTRIBUTES` with numbers, separated by commas, such as cost; the mean cost of a recipe, weighted by amounts, becomes a feature")
	c.Flags().StringSliceVar(&o.descriptors.Ratios, "ratios", nil, "`ATTRIBUTES`, separated by commas, such as family; the log ratio of the amounts of each pair of families becomes a feature")
	c.Flags().BoolVar(&o.descriptors.Presence, "presence", false, "add as features whether a recipe uses each ingredient, and each group of --totals")
	c.Flags().BoolVar(&o.testsAmounts, "amounts", true, "use the amounts of ingredients as features")
	c.Flags().BoolVar(&o.choosesFeatures, "choose", false, "choose features and sizes of trees by tests on recipes kept out (cross-validation)")
	c.Flags().IntVar(&o.repeats, "repeats", 3, "`NUMBER` of times that --choose repeats its tests")
	c.Flags().Uint64Var(&o.forest.Seed, "seed", 1, "start of the random numbers; the same `NUMBER` gives the same model")
	c.Flags().IntVar(&o.forest.Workers, "workers", 0, "`NUMBER` of trees grown at the same time (default: all cores)")
	c.Flags().BoolVar(&o.isNumeric, "numeric", false, "treat the result as a number, not a class (default: if all values are numbers)")
	c.Flags().StringVar(&o.figuresDirectory, "figures", "", "write the figures into this `DIR`, as SVG and PNG")
	c.Flags().BoolVar(&o.asJSON, "json", false, "print one JSON document")
	must(c.MarkFlagRequired("label"))
	must(c.MarkFlagFilename("output", "json"))
	must(c.MarkFlagDirname("figures"))
	must(c.MarkFlagFilename("ingredients", "csv", "xlsx"))
}

// run reads recipes from a table, learns to predict a label of the recipes, saves the model, and prints a
// description of the model.
func (o *trainOptions) run(c *cobra.Command, args []string) error {
	kind, err := o.checkFlags(c)
	if err != nil {
		return err
	}
	known, err := o.readRecipes(c, args[0])
	if err != nil {
		return err
	}
	l, sd, err := o.findLabels(known, args[0])
	if err != nil {
		return err
	}
	if !c.Flags().Changed("numeric") {
		if o.isNumeric, err = isNumericLabel(l, kind, o.failedWords); err != nil {
			return replaceSettingsByFlags(o.tryNumberFixes(c.Context(), err, args[0]))
		}
	}
	var m trainedModel
	if kind == model.ForestAlone {
		m, err = o.growForest(c, known, l)
	} else {
		m, err = compile.Learn(c.Context(), known, l, sd, o.total, o.isNumeric, o.failedWords, model.LearnOptions{Kind: kind, Forest: o.forest, Log: o.logNumbers})
	}
	if err != nil {
		return err
	}
	if o.outputFile != "" {
		if err := saveModel(m, o.outputFile); err != nil {
			return err
		}
	}
	return reportTraining(c, m, o.outputFile, o.figuresDirectory, o.asJSON)
}

// checkFlags checks the flags before any file is read. It returns the kind of model that the flags select.
func (o *trainOptions) checkFlags(c *cobra.Command) (kind model.ModelKind, err error) {
	if err := o.checkNumberFlags(c); err != nil {
		return kind, err
	}
	if d := o.descriptors; len(d.Totals)+len(d.Means)+len(d.Ratios) > 0 && o.ingredientsFile == "" {
		return kind, &inputerr.Error{Message: "descriptors are of attributes of the ingredients", Hint: "name their file with --ingredients"}
	}
	if kind, err = modelKindFromFlags(c, o.kindName); err != nil {
		return kind, err
	}
	if o.forest.Splits, err = splitsFromFlags(c, o.splitsName, o.choosesFeatures); err != nil {
		return kind, err
	}
	if c.Flags().Changed("repeats") && !o.choosesFeatures {
		return kind, &inputerr.Error{Message: "--repeats is of the comparison of --choose", Hint: "add --choose, or leave it out"}
	}
	if o.descriptors.WithoutAmounts = !o.testsAmounts; o.descriptors.WithoutAmounts && o.choosesFeatures {
		return kind, &inputerr.Error{Message: "--choose compares forests with and without amounts", Hint: "leave out --amounts"}
	}
	if o.outputFile != "" {
		if _, err := os.Lstat(o.outputFile); err == nil {
			return kind, &inputerr.Error{Message: fmt.Sprintf("%s exists and is not overwritten", inputerr.Quote(o.outputFile)), Hint: "name another file with -o"}
		}
	}
	return kind, nil
}

// checkNumberFlags returns an error if the number in some flag is outside its range.
func (o *trainOptions) checkNumberFlags(c *cobra.Command) error {
	if o.total < 1 || o.total > model.MaxTotal {
		return &inputerr.Error{Message: fmt.Sprintf("--total is %d", o.total), Hint: fmt.Sprintf("it must be from 1 to %d", model.MaxTotal)}
	}
	for _, f := range []struct {
		name        string
		value, most int
	}{{"trees", o.forest.Trees, model.MaxTrees}, {"features", o.forest.FeaturesPerSplit, math.MaxInt}, {"leaf", o.forest.SmallestLeaf, 1 << 30}, {"repeats", o.repeats, 1000}} {
		if c.Flags().Changed(f.name) && (f.value < 1 || f.value > f.most) {
			return &inputerr.Error{Message: fmt.Sprintf("--%s is %d", f.name, f.value), Hint: fmt.Sprintf("it must be from 1 to %d", f.most)}
		}
	}
	if o.forest.Workers < 0 {
		return &inputerr.Error{Message: fmt.Sprintf("--workers is %d", o.forest.Workers), Hint: "it must be 0, for all cores, or more"}
	}
	return nil
}

// readRecipes reads the table of recipes and the attributes of the ingredients. It prints what was guessed
// about the table.
func (o *trainOptions) readRecipes(c *cobra.Command, file string) (*dataset.Book, error) {
	read := dataset.Options{Labels: append(o.labels, o.label)}
	if o.sdColumn != "" {
		read.Labels = append(read.Labels, o.sdColumn)
	}
	var err error
	if read.Layout, err = o.layoutFlags.buildLayout(); err != nil {
		return nil, err
	}
	if o.ingredientsFile != "" {
		if read.Ingredients, err = dataset.ReadIngredientsFile(c.Context(), o.ingredientsFile, dataset.Layout{}); err != nil {
			return nil, err
		}
	}
	if _, read.Units, err = parseUnits(o.units); err != nil {
		return nil, err
	}
	o.readOptions = read
	known, err := dataset.ReadFile(c.Context(), file, read)
	if err != nil {
		return nil, replaceSettingsByFlags(err)
	}
	return known, printNotes(c.ErrOrStderr(), known.Notes, known.GuessedLayout)
}

// findLabels returns the label that the model shall predict, and the label that holds its standard deviations.
// The latter is nil without the flag --sd.
func (o *trainOptions) findLabels(known *dataset.Book, file string) (l, sd *dataset.Label, err error) {
	if l, err = findLabel(known, file, o.label); err != nil || o.sdColumn == "" {
		return l, nil, err
	}
	sd, err = findLabel(known, file, o.sdColumn)
	return l, sd, err
}

// isNumericLabel reports whether the values of a label are numbers, which a model can predict as numbers. It
// returns an error if only some of the values look like numbers.
func isNumericLabel(l *dataset.Label, kind model.ModelKind, failed []string) (bool, error) {
	if l.IsNumeric() || kind != model.ForestAlone && l.IsMeasurement(failed...) {
		return true, nil
	}
	return false, l.CheckNumbers(failed...)
}

// tryNumberFixes adds to an error about the numbers of the label the settings that get past it; see [dataset.TryFixes].
func (o *trainOptions) tryNumberFixes(ctx context.Context, err error, file string) error {
	if !dataset.CanReadAgain(file) {
		return err
	}
	return dataset.TryFixes(err, o.readOptions, func(read dataset.Options) (*dataset.Book, error) {
		known, err := dataset.ReadFile(ctx, file, read)
		if err != nil {
			return nil, err
		}
		l, err := findLabel(known, file, o.label)
		if err != nil {
			return nil, err
		}
		return known, l.CheckNumbers(o.failedWords...)
	})
}

// growForest trains a forest with the features and options that flags set. With the flag --choose it trains
// several forests and returns the best.
func (o *trainOptions) growForest(c *cobra.Command, known *dataset.Book, l *dataset.Label) (trainedModel, error) {
	candidates, err := o.candidates(c, known.Ingredients)
	if err != nil {
		return nil, err
	}
	if most := max(len(candidates[len(candidates)-1].Features), known.Ingredients.Len()); o.forest.FeaturesPerSplit > most {
		return nil, &inputerr.Error{Message: fmt.Sprintf("--features is %d", o.forest.FeaturesPerSplit), Hint: fmt.Sprintf("there are %d to choose among", most)}
	}
	return compile.GrowForest(c.Context(), known, l, o.total, o.isNumeric, candidates, o.repeats)
}

// candidates returns the options of the forests to compare with the flag --choose. Without the flag there is
// only one.
func (o *trainOptions) candidates(c *cobra.Command, ingredients *dataset.Ingredients) ([]model.Candidate, error) {
	d := o.descriptors
	if !o.choosesFeatures {
		features, _, err := d.Features(ingredients, o.total)
		return []model.Candidate{{Features: features, Options: o.forest}}, err
	}
	if d.Totals == nil && d.Means == nil && d.Ratios == nil {
		presence := d.Presence
		var left []string
		d, left = compile.AllDescriptors(ingredients)
		d.Presence = presence
		for _, why := range left {
			if _, err := fmt.Fprintf(c.ErrOrStderr(), "No descriptor is made of %s.\n", why); err != nil {
				return nil, err
			}
		}
	}
	return d.Candidates(ingredients, o.total, o.isNumeric, o.forest)
}

// A trainedModel is a model that can predict, describe itself and be saved.
type trainedModel interface {
	compile.Predictor
	Write(io.Writer) error
}

// findLabel returns the label with the given name in a table of recipes. Errors mention the file of the table.
func findLabel(known *dataset.Book, file, name string) (*dataset.Label, error) {
	l, ok := known.Label(name)
	if !ok {
		return nil, &inputerr.Error{File: file, Message: "the recipes have no label " + inputerr.Quote(name)}
	}
	return l, nil
}

// forestFlags are the names of the flags that have an effect only on forests.
var forestFlags = []string{"splits", "features", "leaf", "totals", "means", "ratios", "presence", "amounts", "choose", "repeats"}

// modelKindFromFlags returns the kind of model: the kind in the flag --kind, or a forest if a flag of [forestFlags]
// is set.
func modelKindFromFlags(c *cobra.Command, name string) (kind model.ModelKind, err error) {
	if name != "" {
		if kind, err = model.ParseKind(name); err != nil {
			return kind, &inputerr.Error{Message: "--kind is " + inputerr.Quote(name), Hint: "it must be learn, forest or process"}
		}
	}
	for _, flag := range forestFlags {
		switch {
		case !c.Flags().Changed(flag):
		case name == "":
			kind = model.ForestAlone
		case kind != model.ForestAlone:
			return kind, &inputerr.Error{Message: "--" + flag + " is of a forest alone", Hint: "leave it out, or take --kind forest"}
		}
	}
	for _, flag := range []string{"log", "sd", "failed"} {
		if kind == model.ForestAlone && c.Flags().Changed(flag) {
			return kind, &inputerr.Error{Message: "--" + flag + " is not of a forest alone", Hint: "leave it out, or take --kind learn without flags of a forest"}
		}
	}
	return kind, nil
}

// splitsFromFlags returns how the trees of a forest choose their splits. The default is the best split if the
// flag --features or --choose is set, and otherwise a random split.
func splitsFromFlags(c *cobra.Command, name string, choose bool) (model.Splits, error) {
	if name == "" {
		if choose || c.Flags().Changed("features") {
			return model.BestSplits, nil
		}
		return model.RandomSplits, nil
	}
	splits, err := model.ParseSplits(name)
	if err != nil {
		return splits, &inputerr.Error{Message: "--splits is " + inputerr.Quote(name), Hint: "it must be random or best"}
	}
	return splits, nil
}

// reportTraining prints a description of the model. If a flag names a directory for drawings, it also writes
// the drawings. The description names the file of the model, if the model was saved.
func reportTraining(c *cobra.Command, p compile.Predictor, file, figures string, asJSON bool) error {
	t, err := assemble.Training(p, file)
	if err != nil {
		return err
	}
	if figures != "" {
		if _, err := saveFigures(c.Context(), view.TrainingFigures(t), figures); err != nil {
			return fmt.Errorf("writing the figures: %w", err)
		}
	}
	return printTraining(c, t, asJSON)
}

// printTraining prints the description of a model as text or JSON.
func printTraining(c *cobra.Command, t *report.Training, asJSON bool) error {
	if asJSON {
		return writeJSON(c.OutOrStdout(), t)
	}
	return view.Training(c.OutOrStdout(), t)
}

// saveModel writes a model to a new file.
func saveModel(m trainedModel, path string) error {
	var b bytes.Buffer
	err := m.Write(&b)
	if err == nil {
		err = createFile(path, b.Bytes())
	}
	if err != nil {
		return fmt.Errorf("saving the model in %s: %w", path, err)
	}
	return nil
}
