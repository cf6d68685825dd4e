package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/spf13/cobra"

	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/problem"
	"kir/internal/report"
	"kir/internal/report/assemble"
	"kir/internal/report/view"
	"kir/model"
)

func newTrainCommand() *cobra.Command {
	var label, spread, out, ingredients, figures string
	var total int
	var labels, units []string
	var d problem.Descriptors
	var asJSON, numeric, amounts, choose, logs bool
	var repeats int
	var kindName, splitsName string
	var failed []string
	var how layoutFlags
	o := model.Options{Trees: 100, Seed: 1, Importances: true}
	c := &cobra.Command{
		Use:   "train RECIPES --label L [-o FILE]",
		Short: "Learn a label from recipes and rate the model",
		Long: `Learn to predict a label of recipes from their amounts, print how well it
predicts recipes that it has not seen, and save the model. A problem file loads it with
learn: {file: FILE, maximize: true}.

The model is a forest of random splits and, for numbers, its average with a Gaussian
process, unless held-out recipes say that this is worse. Attributes of the ingredients, by
their file and by words that their names share, are used where cross-validation says
that they help. --kind forest or process learns one alone, and so
do the flags of a forest: --splits, --features, --leaf, --totals, --means, --ratios,
--presence, --amounts and --choose. A problem file loads a forest with
forest: {file: FILE, want: ...}.

Cells such as failed, unstable or n/a in a column of numbers mean that a recipe failed;
they teach a probability of success. --failed names further words, --log learns the
logarithm of numbers, --sd names a column with their standard deviations: a number that
was measured badly counts less.

--figures draws held-out predictions against what was measured, the most important
features, and how the prediction changes with amounts, as SVG and PNG.

RECIPES is a table, CSV, .xlsx or .ods: long (recipe, ingredient, amount, unit
and label columns) or wide (a column an ingredient, others labels). Guesses
about the table go to stderr; flags override them.

A problem that names a file of ingredients loads forests that were grown with it:
give the same with --ingredients. Splits test the amounts of ingredients; flags add
descriptors by attributes in that file, as add: does in a problem, so that the
model can predict recipes with ingredients that no known recipe has:
--totals the total of each group, --means the mean of a number, --ratios the
log-ratio of each two groups; --presence whether anything is used at all.

--choose compares, by repeated cross-validation, forests from amounts, from amounts
and descriptors and from descriptors alone, each with leaves of 1 and 5 recipes and
with √F and F/3 of F features a split, and keeps the plainest that is not worse than
the best by more than a standard error. Descriptors are those that flags name, or
all that the ingredients' file has: totals of texts and means of numbers. Other
flags are kept as given.`,
		Example: `  kir train examples/cocktails/recipes.csv --label taste
  kir train examples/cocktails/recipes.csv --label taste -o taste.json
  kir train recipes.csv --label taste --ingredients ingredients.csv --totals family
  kir train recipes.csv --label taste --ingredients ingredients.csv --choose -o taste.json`,
		Args: exactlyOneArg("recipe file"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"csv", "xlsx", "tsv", "txt"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(c *cobra.Command, args []string) error {
			if total < 1 || total > model.MaxTotal {
				return &inputerr.Error{Message: fmt.Sprintf("--total is %d", total), Hint: fmt.Sprintf("it must be from 1 to %d", model.MaxTotal)}
			}
			for _, f := range []struct {
				name        string
				value, most int
			}{{"trees", o.Trees, model.MaxTrees}, {"features", o.FeaturesPerSplit, math.MaxInt}, {"leaf", o.SmallestLeaf, 1 << 30}, {"repeats", repeats, 1000}} {
				if c.Flags().Changed(f.name) && (f.value < 1 || f.value > f.most) {
					return &inputerr.Error{Message: fmt.Sprintf("--%s is %d", f.name, f.value), Hint: fmt.Sprintf("it must be from 1 to %d", f.most)}
				}
			}
			if o.Workers < 0 {
				return &inputerr.Error{Message: fmt.Sprintf("--workers is %d", o.Workers), Hint: "it must be 0, for all cores, or more"}
			}
			if len(d.Totals)+len(d.Means)+len(d.Ratios) > 0 && ingredients == "" {
				return &inputerr.Error{Message: "descriptors are of attributes of the ingredients", Hint: "name their file with --ingredients"}
			}
			kind, err := kindOf(c, kindName)
			if err != nil {
				return err
			}
			if o.Splits, err = splitsOf(c, splitsName, choose); err != nil {
				return err
			}
			if c.Flags().Changed("repeats") && !choose {
				return &inputerr.Error{Message: "--repeats is of the comparison of --choose", Hint: "add --choose, or leave it out"}
			}
			if d.Only = !amounts; d.Only && choose {
				return &inputerr.Error{Message: "--choose compares forests with and without amounts", Hint: "leave out --amounts"}
			}
			if out != "" {
				if _, err := os.Lstat(out); err == nil {
					return &inputerr.Error{Message: fmt.Sprintf("%s exists and is not overwritten", inputerr.Quote(out)), Hint: "name another file with -o"}
				}
			}
			read := dataset.Options{Labels: append(labels, label)}
			if spread != "" {
				read.Labels = append(read.Labels, spread)
			}
			if read.Layout, err = how.layout(); err != nil {
				return err
			}
			if ingredients != "" {
				if read.Ingredients, err = dataset.ReadIngredientsFile(c.Context(), ingredients, dataset.Layout{}); err != nil {
					return err
				}
			}
			if _, read.Units, err = readUnits(units); err != nil {
				return err
			}
			known, err := dataset.ReadFile(c.Context(), args[0], read)
			if err != nil {
				return hintsAsFlags(err)
			}
			if err := tellNotes(c.ErrOrStderr(), known.Notes, known.Guessed); err != nil {
				return err
			}
			l, err := labelIn(known, args[0], label)
			if err != nil {
				return err
			}
			var sd *dataset.Label
			if spread != "" {
				if sd, err = labelIn(known, args[0], spread); err != nil {
					return err
				}
			}
			if !c.Flags().Changed("numeric") {
				if numeric = l.Numeric() || kind != model.ForestAlone && l.IsMeasurement(failed...); !numeric {
					if err := l.CheckNumbers(failed...); err != nil {
						return hintsAsFlags(err)
					}
				}
			}
			if kind != model.ForestAlone {
				m, err := problem.Learn(c.Context(), known, l, sd, total, numeric, failed, model.LearnOptions{Kind: kind, Forest: o, Log: logs})
				if err != nil {
					return err
				}
				if out != "" {
					if err := saveModel(m, out); err != nil {
						return err
					}
				}
				return tellTraining(c, m, out, figures, asJSON)
			}
			var candidates []model.Candidate
			if choose {
				if d.Totals == nil && d.Means == nil && d.Ratios == nil {
					var left []string
					presence := d.Presence
					d, left = problem.AllDescriptors(known.Ingredients)
					d.Presence = presence
					for _, why := range left {
						if _, err := fmt.Fprintf(c.ErrOrStderr(), "No descriptor is made of %s.\n", why); err != nil {
							return err
						}
					}
				}
				candidates, err = d.Candidates(known.Ingredients, total, numeric, o)
			} else {
				var features []model.Feature
				features, _, err = d.Features(known.Ingredients, total)
				candidates = []model.Candidate{{Features: features, Options: o}}
			}
			if err != nil {
				return err
			}
			if most := max(len(candidates[len(candidates)-1].Features), known.Ingredients.Len()); o.FeaturesPerSplit > most {
				return &inputerr.Error{Message: fmt.Sprintf("--features is %d", o.FeaturesPerSplit), Hint: fmt.Sprintf("there are %d to choose among", most)}
			}
			f, err := problem.GrowForest(c.Context(), known, l, total, numeric, candidates, repeats)
			if err != nil {
				return err
			}
			if out != "" {
				if err := saveModel(f, out); err != nil {
					return err
				}
			}
			return tellTraining(c, f, out, figures, asJSON)
		},
	}
	c.Flags().StringVar(&label, "label", "", "label column to predict")
	c.Flags().StringSliceVar(&labels, "labels", nil, "further label columns of a wide table, which are no ingredients")
	c.Flags().StringSliceVar(&units, "units", nil, "sizes of units, such as 'piece=5 cl'")
	how.add(c)
	c.Flags().StringVarP(&out, "output", "o", "", "file to save the model in; it must not exist")
	c.Flags().IntVar(&total, "total", 1000, "units that recipes are divided into; the problem's total")
	c.Flags().IntVar(&o.Trees, "trees", o.Trees, "trees to grow")
	c.Flags().StringVar(&kindName, "kind", "", "learn, forest or process (default learn)")
	c.Flags().BoolVar(&logs, "log", false, "learn the logarithm of numbers")
	c.Flags().StringVar(&spread, "sd", "", "column with the standard deviations of the label's numbers")
	c.Flags().StringSliceVar(&failed, "failed", nil, "further values of the label that say that a recipe failed")
	c.Flags().StringVar(&splitsName, "splits", "", "random: one threshold of each feature is tried; best: all (default random, with --features or --choose best)")
	c.Flags().IntVar(&o.FeaturesPerSplit, "features", 0, "features that a split chooses among (default: see docs/problem.md)")
	c.Flags().IntVar(&o.SmallestLeaf, "leaf", 0, "fewest recipes in a leaf (default 1; 5 for numbers with best splits)")
	c.Flags().StringVar(&ingredients, "ingredients", "", "table of the ingredients, name and attributes, in the problem's order")
	c.Flags().StringSliceVar(&d.Totals, "totals", nil, "attributes of the ingredients by which totals are tested too")
	c.Flags().StringSliceVar(&d.Means, "means", nil, "attributes of numbers whose means are tested too")
	c.Flags().StringSliceVar(&d.Ratios, "ratios", nil, "attributes by which log-ratios of totals are tested too")
	c.Flags().BoolVar(&d.Presence, "presence", false, "test also whether an ingredient is used at all")
	c.Flags().BoolVar(&amounts, "amounts", true, "test the amounts of ingredients")
	c.Flags().BoolVar(&choose, "choose", false, "choose features and options by repeated cross-validation")
	c.Flags().IntVar(&repeats, "repeats", 3, "how often --choose deals the recipes to five folds")
	c.Flags().Uint64Var(&o.Seed, "seed", o.Seed, "seed of the model")
	c.Flags().IntVar(&o.Workers, "workers", 0, "trees grown at once (default: all cores)")
	c.Flags().BoolVar(&numeric, "numeric", false, "the label is a number, not a class (default: if every value is one)")
	c.Flags().StringVar(&figures, "figures", "", "directory to write figures to, as SVG and PNG")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	must(c.MarkFlagRequired("label"))
	must(c.MarkFlagFilename("output", "json"))
	must(c.MarkFlagDirname("figures"))
	must(c.MarkFlagFilename("ingredients", "csv", "xlsx"))
	return c
}

// labelIn returns a label of a table of recipes.
func labelIn(known *dataset.Book, file, name string) (*dataset.Label, error) {
	l, ok := known.Label(name)
	if !ok {
		return nil, &inputerr.Error{File: file, Message: "the recipes have no label " + inputerr.Quote(name)}
	}
	return l, nil
}

// forestFlags are the flags that apply to forests only.
var forestFlags = []string{"splits", "features", "leaf", "totals", "means", "ratios", "presence", "amounts", "choose", "repeats"}

// kindOf returns the kind of model: the one in --kind, or a forest if a forest's flag is given.
func kindOf(c *cobra.Command, name string) (kind model.Kind, err error) {
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

// splitsOf returns the kind of splits. A given number of features, or its choice, implies best
// splits.
func splitsOf(c *cobra.Command, name string, choose bool) (model.Splits, error) {
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

// tellTraining writes the figures, if requested, and prints the description of a model, with its
// file if it was saved.
func tellTraining(c *cobra.Command, p problem.Predictor, file, figures string, asJSON bool) error {
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
func saveModel(f interface{ Write(io.Writer) error }, path string) error {
	var b bytes.Buffer
	err := f.Write(&b)
	if err == nil {
		err = writeNew(path, b.Bytes())
	}
	if err != nil {
		return fmt.Errorf("saving the model in %s: %w", path, err)
	}
	return nil
}
