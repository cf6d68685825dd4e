package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"kir/fault"
	"kir/forest"
	"kir/problem"
	"kir/recipe"
	"kir/report"
)

func newTrainCommand() *cobra.Command {
	var label, out string
	var total int
	var labels []string
	var asJSON, numeric bool
	o := forest.Options{Trees: 100, Seed: 1, Importances: true}
	c := &cobra.Command{
		Use:   "train RECIPES --label L [-o FILE]",
		Short: "Grow a random forest on a recipe book and say how good it is",
		Long: `Grow a random forest that predicts a label of recipes from their composition,
say how well it predicts recipes that it has not seen (out of bag), and save it.
A problem file loads it with forest: {file: FILE, want: ...}.

RECIPES is a CSV file, long (recipe, ingredient, amount, unit and label columns)
or wide (a column an ingredient; name its label columns with --labels).`,
		Example: `  kir train examples/cocktails/recipes.csv --label taste
  kir train examples/cocktails/recipes.csv --label taste -o taste.json`,
		Args: one("recipe file"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"csv"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(c *cobra.Command, args []string) error {
			if total < 1 || total > forest.MaxTotal {
				return &fault.Error{Message: fmt.Sprintf("--total is %d", total), Hint: fmt.Sprintf("it must be from 1 to %d", forest.MaxTotal)}
			}
			if o.Trees < 1 {
				return &fault.Error{Message: fmt.Sprintf("--trees is %d", o.Trees), Hint: "it must be at least 1"}
			}
			if out != "" {
				if _, err := os.Lstat(out); err == nil {
					return &fault.Error{Message: fmt.Sprintf("%s exists and is not overwritten", fault.Quote(out)), Hint: "name another file with -o"}
				}
			}
			book, err := recipe.ReadFile(args[0], recipe.Options{Labels: append(labels, label)})
			if err != nil {
				return err
			}
			l, ok := book.Label(label)
			if !ok {
				return &fault.Error{File: args[0], Message: "the recipes have no label " + fault.Quote(label)}
			}
			f, err := problem.GrowForest(c.Context(), book, l, total, numeric, o)
			if err != nil {
				return err
			}
			if out != "" {
				if err := saveForest(f, out); err != nil {
					return err
				}
			}
			training := report.NewTraining(f, out)
			if asJSON {
				return writeJSON(c.OutOrStdout(), training)
			}
			return training.WriteText(c.OutOrStdout())
		},
	}
	c.Flags().StringVar(&label, "label", "", "label column to predict")
	c.Flags().StringSliceVar(&labels, "labels", nil, "further label columns of a wide table, which are no ingredients")
	c.Flags().StringVarP(&out, "output", "o", "", "file to save the forest in; it must not exist")
	c.Flags().IntVar(&total, "total", 1000, "units that recipes are divided into; the problem's total")
	c.Flags().IntVar(&o.Trees, "trees", o.Trees, "trees to grow")
	c.Flags().Uint64Var(&o.Seed, "seed", o.Seed, "seed of the forest")
	c.Flags().IntVar(&o.Workers, "workers", 0, "trees grown at once (default: all cores)")
	c.Flags().BoolVar(&numeric, "numeric", false, "the label is a number, not a class")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	must(c.MarkFlagRequired("label"))
	must(c.MarkFlagFilename("output", "json"))
	return c
}

// saveForest writes a forest to a new file, whole or not at all.
func saveForest(f *forest.Forest, path string) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), ".kir-*")
	if err != nil {
		return fmt.Errorf("saving the forest in %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("saving the forest in %s: %w", path, errors.Join(err, ignoreClosed(temp.Close()), os.Remove(temp.Name())))
		}
	}()
	if err := f.Write(temp); err != nil {
		return err
	}
	if err := temp.Chmod(0o644); err != nil {
		return err
	}
	if err := temp.Close(); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}

func ignoreClosed(err error) error {
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return err
}
