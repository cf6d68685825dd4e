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
		Use:   "train RECIPES --label L [-o FILE]",
		Short: "Learn to predict a result (label) from recipes and rate the model",
		Long: `Learn to predict a label of recipes from their amounts, print how well the model
predicts recipes that it has not seen, and save it. A problem file loads it with
learn: {file: FILE, maximize: true}.

The model is a random forest. For numbers, kir averages it with a Gaussian process,
unless the forest alone predicts held-out recipes better. The model also uses attributes of the
ingredients, from their file or from shared words in their names, if cross-validation
shows that they help. --kind forest or process learns only that model. These flags learn
only a forest: --splits, --features, --leaf, --totals, --means, --ratios, --presence,
--amounts and --choose. A problem file loads a forest with
forest: {file: FILE, want: ...}.

Cells such as failed, unstable or n/a in a column of numbers mean that a recipe failed;
they teach a probability of success. --failed names further words. --log learns the
logarithm of numbers. --sd names a column with their standard deviations; imprecise
numbers count less.

--figures draws predictions of held-out recipes against measured values, the most
important features, and how the prediction changes with amounts, as SVG and PNG.

RECIPES is a table, CSV, .xlsx or .ods: long (recipe, ingredient, amount, unit and label
columns) or wide (one column per ingredient, and label columns). Guesses about the table
go to stderr; flags override them.

If the problem has a file of ingredients, train with the same file: --ingredients FILE.
Features from that file let a forest predict recipes with ingredients that no known
recipe has. --totals adds the total of each group, --means the mean of a number, --ratios
the log-ratios between groups, and --presence whether each is used at all. The key "add"
of a problem file does the same.

--choose cross-validates forests with features from the amounts, from the ingredients'
file and from both, with leaves of 1 and 5 recipes, and with √F and F/3 of F features per
split. It keeps the simplest that is within one standard error of the best. Its features
from the file are those that your flags name, or else all: the total of each text value, and
the mean of each number. Other
flags stay as given.`,
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
	c.Flags().StringVar(&o.label, "label", "", "label `COLUMN` to predict")
	c.Flags().StringSliceVar(&o.labels, "labels", nil, "further `COLUMNS` of a wide table that are not ingredients")
	c.Flags().StringSliceVar(&o.units, "units", nil, "size of a unit, `UNIT=AMOUNT`, such as 'piece=5 cl'")
	o.layoutFlags.addTo(c)
	c.Flags().StringVarP(&o.outputFile, "output", "o", "", "save the model in this `FILE`, which must not exist")
	c.Flags().IntVar(&o.total, "total", 1000, "`NUMBER` of units of a recipe; use the total of the problem")
	c.Flags().IntVar(&o.forest.Trees, "trees", 100, "`NUMBER` of trees")
	c.Flags().StringVar(&o.kindName, "kind", "", "model `KIND`: learn (forest and Gaussian process), forest or process (default learn)")
	c.Flags().BoolVar(&o.logNumbers, "log", false, "learn the logarithm of numbers")
	c.Flags().StringVar(&o.sdColumn, "sd", "", "`COLUMN` with the standard deviations of the label")
	c.Flags().StringSliceVar(&o.failedWords, "failed", nil, "further `WORDS` that mean that a recipe failed")
	c.Flags().StringVar(&o.splitsName, "splits", "", "split `RULE`: random tries one threshold per feature, best tries all (default random; best with --features or --choose)")
	c.Flags().IntVar(&o.forest.FeaturesPerSplit, "features", 0, "`NUMBER` of features that each split considers (default: see docs/problem.md)")
	c.Flags().IntVar(&o.forest.SmallestLeaf, "leaf", 0, "fewest recipes in a leaf, `NUMBER` (default 1; 5 for a numeric label with --splits best)")
	c.Flags().StringVar(&o.ingredientsFile, "ingredients", "", "`FILE` with a table of the ingredients: name and attributes, listed as in the problem")
	c.Flags().StringSliceVar(&o.descriptors.Totals, "totals", nil, "`ATTRIBUTES` of ingredients; the total of each group becomes a feature")
	c.Flags().StringSliceVar(&o.descriptors.Means, "means", nil, "numeric `ATTRIBUTES` of ingredients; their means become features")
	c.Flags().StringSliceVar(&o.descriptors.Ratios, "ratios", nil, "`ATTRIBUTES` of ingredients; log-ratios between two groups become features")
	c.Flags().BoolVar(&o.descriptors.Presence, "presence", false, "use the presence of each ingredient as a feature, too")
	c.Flags().BoolVar(&o.testsAmounts, "amounts", true, "use the amounts of ingredients as features")
	c.Flags().BoolVar(&o.choosesFeatures, "choose", false, "choose features and options by repeated cross-validation")
	c.Flags().IntVar(&o.repeats, "repeats", 3, "repetitions of the five-fold cross-validation of --choose, `NUMBER`")
	c.Flags().Uint64Var(&o.forest.Seed, "seed", 1, "seed of the model")
	c.Flags().IntVar(&o.forest.Workers, "workers", 0, "`NUMBER` of trees grown in parallel (default: all cores)")
	c.Flags().BoolVar(&o.isNumeric, "numeric", false, "treat the label as a number, not a class (default: if all values are numbers)")
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
