package main

import (
	"bytes"
	"fmt"
	"math"
	"os"

	"github.com/spf13/cobra"

	"kir/internal/book"
	"kir/internal/fault"
	"kir/internal/problem"
	"kir/internal/report/build"
	"kir/internal/report/view"
	"kir/model"
)

func newTrainCommand() *cobra.Command {
	var label, out, ingredients string
	var total int
	var labels, units []string
	var d problem.Descriptors
	var asJSON, numeric, amounts, choose bool
	var repeats int
	var how layoutFlags
	o := model.Options{Trees: 100, Splits: model.BestSplits, Seed: 1, Importances: true}
	c := &cobra.Command{
		Use:   "train RECIPES --label L [-o FILE]",
		Short: "Grow a random forest on a recipe book and say how good it is",
		Long: `Grow a random forest that predicts a label of recipes from their composition,
say how well it predicts recipes that it has not seen (out of bag), and save it.
A problem file loads it with forest: {file: FILE, want: ...}.

RECIPES is a table, CSV, .xlsx or JSON-LD: long (recipe, ingredient, amount, unit
and label columns) or wide (a column an ingredient, others labels). What is
understood of it without being said goes to stderr; flags say it.

A problem that names a file of ingredients loads forests that were grown with it:
give the same with --ingredients. Splits test the amounts of ingredients; flags add
descriptors by attributes in that file, as add: does in a problem, so that what is
known of some ingredients tells of others, even of those that no recipe has:
--totals the total of each group, --means the mean of a number, --ratios the
log-ratio of each two groups; --presence whether anything is used at all.

--choose compares, by repeated cross-validation, forests from amounts, from amounts
and descriptors and from descriptors alone, each with leaves of 1 and 5 recipes and
with √F and F/3 of F features a split, and keeps the plainest that is not worse than
the best by more than a standard error. Descriptors are those that flags name, or
all that the ingredients' file has: totals of texts and means of numbers. What other
flags say is not varied.`,
		Example: `  kir train examples/cocktails/recipes.csv --label taste
  kir train examples/cocktails/recipes.csv --label taste -o taste.json
  kir train recipes.csv --label taste --ingredients ingredients.csv --totals family
  kir train recipes.csv --label taste --ingredients ingredients.csv --choose -o taste.json`,
		Args: one("recipe file"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"csv", "xlsx", "tsv", "txt", "json", "jsonld"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(c *cobra.Command, args []string) error {
			if total < 1 || total > model.MaxTotal {
				return &fault.Error{Message: fmt.Sprintf("--total is %d", total), Hint: fmt.Sprintf("it must be from 1 to %d", model.MaxTotal)}
			}
			for _, f := range []struct {
				name        string
				value, most int
			}{{"trees", o.Trees, model.MaxTrees}, {"features", o.FeaturesPerSplit, math.MaxInt}, {"leaf", o.SmallestLeaf, 1 << 30}, {"repeats", repeats, 1000}} {
				if c.Flags().Changed(f.name) && (f.value < 1 || f.value > f.most) {
					return &fault.Error{Message: fmt.Sprintf("--%s is %d", f.name, f.value), Hint: fmt.Sprintf("it must be from 1 to %d", f.most)}
				}
			}
			if o.Workers < 0 {
				return &fault.Error{Message: fmt.Sprintf("--workers is %d", o.Workers), Hint: "it must be 0, for all cores, or more"}
			}
			if len(d.Totals)+len(d.Means)+len(d.Ratios) > 0 && ingredients == "" {
				return &fault.Error{Message: "descriptors are of attributes of the ingredients", Hint: "name their file with --ingredients"}
			}
			if c.Flags().Changed("repeats") && !choose {
				return &fault.Error{Message: "--repeats is of the comparison of --choose", Hint: "add --choose, or leave it out"}
			}
			if d.Only = !amounts; d.Only && choose {
				return &fault.Error{Message: "--choose compares forests with and without amounts", Hint: "leave out --amounts"}
			}
			if out != "" {
				if _, err := os.Lstat(out); err == nil {
					return &fault.Error{Message: fmt.Sprintf("%s exists and is not overwritten", fault.Quote(out)), Hint: "name another file with -o"}
				}
			}
			read := book.Options{Labels: append(labels, label)}
			var err error
			if read.Layout, err = how.layout(); err != nil {
				return err
			}
			if ingredients != "" {
				if read.Ingredients, err = book.ReadIngredientsFile(ingredients, book.Layout{}); err != nil {
					return err
				}
			}
			if _, read.Units, err = readUnits(units); err != nil {
				return err
			}
			book, err := book.ReadFile(args[0], read)
			if err != nil {
				return asFlags(err)
			}
			if err := tellNotes(c.ErrOrStderr(), book.Notes, book.Guessed); err != nil {
				return err
			}
			l, ok := book.Label(label)
			if !ok {
				return &fault.Error{File: args[0], Message: "the recipes have no label " + fault.Quote(label)}
			}
			if !c.Flags().Changed("numeric") {
				numeric = l.Numeric()
			}
			var candidates []model.Candidate
			if choose {
				if d.Totals == nil && d.Means == nil && d.Ratios == nil {
					var left []string
					presence := d.Presence
					d, left = problem.AllDescriptors(book.Ingredients)
					d.Presence = presence
					for _, why := range left {
						if _, err := fmt.Fprintf(c.ErrOrStderr(), "No descriptor is made of %s.\n", why); err != nil {
							return err
						}
					}
				}
				candidates, err = d.Candidates(book.Ingredients, total, numeric, o)
			} else {
				var features []model.Feature
				features, _, err = d.Features(book.Ingredients, total)
				candidates = []model.Candidate{{Features: features, Options: o}}
			}
			if err != nil {
				return err
			}
			if most := max(len(candidates[len(candidates)-1].Features), book.Ingredients.Len()); o.FeaturesPerSplit > most {
				return &fault.Error{Message: fmt.Sprintf("--features is %d", o.FeaturesPerSplit), Hint: fmt.Sprintf("there are %d to choose among", most)}
			}
			f, err := problem.GrowForest(c.Context(), book, l, total, numeric, candidates, repeats)
			if err != nil {
				return err
			}
			if out != "" {
				if err := saveForest(f, out); err != nil {
					return err
				}
			}
			training := build.Training(f, out)
			if asJSON {
				return writeJSON(c.OutOrStdout(), training)
			}
			return view.Training(c.OutOrStdout(), training)
		},
	}
	c.Flags().StringVar(&label, "label", "", "label column to predict")
	c.Flags().StringSliceVar(&labels, "labels", nil, "further label columns of a wide table, which are no ingredients")
	c.Flags().StringSliceVar(&units, "units", nil, "sizes of units, such as 'piece=5 cl'")
	how.add(c)
	c.Flags().StringVarP(&out, "output", "o", "", "file to save the forest in; it must not exist")
	c.Flags().IntVar(&total, "total", 1000, "units that recipes are divided into; the problem's total")
	c.Flags().IntVar(&o.Trees, "trees", o.Trees, "trees to grow")
	c.Flags().IntVar(&o.FeaturesPerSplit, "features", 0, "features that a split chooses among (default: the square root of all)")
	c.Flags().IntVar(&o.SmallestLeaf, "leaf", 0, "fewest recipes in a leaf (default 1)")
	c.Flags().StringVar(&ingredients, "ingredients", "", "table of the ingredients, name and attributes, in the problem's order")
	c.Flags().StringSliceVar(&d.Totals, "totals", nil, "attributes of the ingredients by which totals are tested too")
	c.Flags().StringSliceVar(&d.Means, "means", nil, "attributes of numbers whose means are tested too")
	c.Flags().StringSliceVar(&d.Ratios, "ratios", nil, "attributes by which log-ratios of totals are tested too")
	c.Flags().BoolVar(&d.Presence, "presence", false, "test also whether an ingredient is used at all")
	c.Flags().BoolVar(&amounts, "amounts", true, "test the amounts of ingredients")
	c.Flags().BoolVar(&choose, "choose", false, "choose features and options by repeated cross-validation")
	c.Flags().IntVar(&repeats, "repeats", 3, "how often --choose deals the recipes to five folds")
	c.Flags().Uint64Var(&o.Seed, "seed", o.Seed, "seed of the forest")
	c.Flags().IntVar(&o.Workers, "workers", 0, "trees grown at once (default: all cores)")
	c.Flags().BoolVar(&numeric, "numeric", false, "the label is a number, not a class (default: if every value is one)")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	must(c.MarkFlagRequired("label"))
	must(c.MarkFlagFilename("output", "json"))
	must(c.MarkFlagFilename("ingredients", "csv", "xlsx"))
	return c
}

// saveForest writes a forest to a new file.
func saveForest(f *model.Forest, path string) error {
	var b bytes.Buffer
	err := f.Write(&b)
	if err == nil {
		err = writeNew(path, b.Bytes())
	}
	if err != nil {
		return fmt.Errorf("saving the forest in %s: %w", path, err)
	}
	return nil
}
