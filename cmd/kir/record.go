package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kir/internal/campaign"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/report/view"
	"kir/internal/terminal"
)

// recordFlags are the flags of kir record.
type recordFlags struct {
	recipeMade                string
	failed, correct, withdraw bool
	asJSON                    bool
	layoutFlags               layoutFlags
}

func newRecordCommand() *cobra.Command {
	var f recordFlags
	c := &cobra.Command{
		Use:   "record PROBLEM TABLE|RECIPE [RESULT=VALUE]...",
		Short: "Record the results of recipes that you made",
		Long: `Record results beside the problem, in problem.results.csv; kir learns from them. Record
a filled-in batch, another table of recipes with results, a table piped from another
program (write - for TABLE), or one recipe by hand. Name recipes of a batch by their
ids, such as B3-1.

If you made a recipe differently, record the amounts that you used; kir learns from
those. If a recipe breaks a constraint, kir says so and learns from it, but never counts
it as the best. To mark a failed trial, write "failed" instead of the number, or in a
column named "status". Leave a result empty until you know it. Recording the same table
twice changes nothing. kir refuses a value that differs from the recorded one, unless
you add --correct. The file also keeps the replaced values.

kir assumes that you used the proposed settings of the trial (conditions). If you did
not, say so in the table, or with CONDITION=VALUE, such as temperature=172.`,
		Example: `  kir record problem.yaml problem.batch-003.csv
  kir record problem.yaml B3-1 liking=71 haze=4
  kir record problem.yaml B3-2 liking=55 --made "Gin=22%,Tonic water=78%"
  kir record problem.yaml B3-3 --failed
  kir record problem.yaml house liking=80 --made "Gin=4cl,Lime juice=2cl"
  kir record problem.yaml B3-4 liking=68 temperature=172`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return fmt.Errorf("%s needs a problem file, and a table or a recipe", c.CommandPath())
			}
			return nil
		},
		ValidArgsFunction: completeRecordArgs,
		RunE: func(c *cobra.Command, args []string) error {
			return withCampaign(c, args[0], nil, func(k *campaign.Campaign) error {
				results, err := f.readResults(c, k, args[1], args[2:])
				if err != nil {
					return err
				}
				r, err := k.Record(c.Context(), results, campaign.RecordOptions{ReplaceRecorded: f.correct, Withdraw: f.withdraw})
				if err != nil {
					return err
				}
				return writeResult(c.Context(), c.OutOrStdout(), f.asJSON, jsonOf(r), func(w io.Writer) error {
					return printRecordSummary(w, r)
				})
			})
		},
	}
	c.Flags().StringVar(&f.recipeMade, "made", "", "amounts that you used, `NAME=AMOUNT,...`, such as \"Gin=22%,Tonic water=78%\"")
	c.Flags().BoolVar(&f.failed, "failed", false, "record a failed trial, without a result")
	c.Flags().BoolVar(&f.correct, "correct", false, "replace recorded values")
	c.Flags().BoolVar(&f.withdraw, "withdraw", false, "take back the results of RECIPE, or of each recipe of TABLE; without results, drop it from its batch")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print one JSON document")
	f.layoutFlags.addTo(c)
	c.MarkFlagsMutuallyExclusive("failed", "withdraw")
	c.MarkFlagsMutuallyExclusive("made", "withdraw")
	c.MarkFlagsMutuallyExclusive("correct", "withdraw")
	return c
}

// completeRecordArgs makes the shell suggest problem files for the first argument, and tables for the second.
func completeRecordArgs(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
	case 1:
		return []string{"csv", "xlsx", "tsv", "txt"}, cobra.ShellCompDirectiveFilterFileExt
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// readResults returns the results to record. The argument what is a table of results, or one recipe whose
// result the flags and values give.
func (f *recordFlags) readResults(c *cobra.Command, k *campaign.Campaign, what string, values []string) ([]campaign.Result, error) {
	if !f.isSingleRecipe(k, what, values) {
		layout, err := f.layoutFlags.buildLayout()
		if err != nil {
			return nil, err
		}
		table := func() (all []campaign.Result, b *dataset.Book, err error) {
			return k.ReadTable(c.Context(), what, layout)
		}
		if what == "-" {
			text, err := io.ReadAll(c.InOrStdin())
			if err != nil {
				return nil, err
			}
			table = func() ([]campaign.Result, *dataset.Book, error) { return k.ParseTable(text, "stdin", layout) }
		}
		var all []campaign.Result
		b, err := readWithoutVaryingColumns(&layout, func() (b *dataset.Book, err error) {
			all, b, err = table()
			return b, err
		})
		if err != nil {
			return nil, err
		}
		return all, printNotes(c.ErrOrStderr(), b.Notes, b.GuessedLayout)
	}
	r := campaign.Result{Failed: f.failed, Values: make(map[string]string)}
	if k.HasID(what) {
		r.ID = what
	} else {
		if f.recipeMade == "" {
			return nil, k.NoRecipeError(what)
		}
		r.Name = what
	}
	labels := k.ResultLabels()
	for _, text := range values {
		name, value, ok := strings.Cut(text, "=")
		if !ok || strings.TrimSpace(name) == "" {
			return nil, &inputerr.Error{Message: inputerr.Quote(text) + " gives no label a value", Hint: "write, for example, liking=71"}
		}
		name = dataset.NormalizeName(name)
		if !slices.Contains(labels, name) {
			hint := inputerr.DidYouMean(name, labels)
			if hint == "" {
				hint = "add it to labels: of the problem"
			}
			return nil, &inputerr.Error{Message: "nothing has a label " + inputerr.Quote(name), Hint: hint}
		}
		if _, twice := r.Values[name]; twice {
			return nil, &inputerr.Error{Message: inputerr.Quote(name) + " has two values", Hint: "give it one"}
		}
		r.Values[name] = value
	}
	if f.recipeMade != "" {
		var err error
		if r.Parts, r.Conditions, err = k.ParseRecipe(f.recipeMade); err != nil {
			return nil, err
		}
	}
	if len(r.Values) == 0 && !f.failed && !f.withdraw && r.Parts == nil {
		return nil, &inputerr.Error{Message: "there is no result for " + inputerr.Quote(what), Hint: "write a value such as liking=71, or --failed, or --withdraw"}
	}
	return []campaign.Result{r}, nil
}

// isSingleRecipe reports whether the argument what names a recipe and not a table.
func (f *recordFlags) isSingleRecipe(k *campaign.Campaign, what string, values []string) bool {
	if len(values) > 0 || f.recipeMade != "" || f.failed || f.withdraw && !isFile(what) {
		return true
	}
	return what != "-" && !isFile(what) && (k.HasID(what) || campaign.IsID(what))
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// printRecordSummary prints what was recorded.
func printRecordSummary(w io.Writer, r *campaign.RecordSummary) error {
	lines := []string{r.File + ": " + view.RecordedText(r)}
	for _, note := range r.Notes {
		lines = append(lines, note+".")
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, terminal.EscapeControls(line)); err != nil {
			return err
		}
	}
	return nil
}
