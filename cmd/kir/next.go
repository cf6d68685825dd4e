package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"kir/internal/campaign"
	"kir/internal/compile"
	"kir/internal/config/change"
	"kir/internal/inputerr"
	"kir/internal/report/view"
	"kir/internal/terminal"
)

func newNextCommand() *cobra.Command {
	var size int
	var seed uint64
	var out string
	var asJSON bool
	var given []string
	c := &cobra.Command{
		Use:   "next PROBLEM [-n 8] [-o TABLE]",
		Short: "Choose the next batch of recipes to make",
		Long: `Choose the next batch of recipes to make, each with its reason. kir writes a table to
fill in: one row per recipe, one column per ingredient, and an empty column for each
result. kir record reads the filled-in table. All recipes are new and keep the
constraints.

The same problem, results and --seed give the same batch, on any machine. Until a result
is recorded, kir next prints the last batch again.

kir keeps the batch beside the problem: for problem.yaml, as problem.batch-001.json and
problem.batch-001.csv. Without results so far, the first batch spreads evenly over the
possible recipes. kir also chooses settings of the trial (conditions), such as
temperature. Use --given for a condition that you cannot choose, such as the humidity of
the day. docs/campaign.md describes how kir chooses recipes.`,
		Example: `  kir next problem.yaml
  kir next problem.yaml -n 4 -o tonight.xlsx
  kir next problem.yaml --given humidity=40
  kir next problem.yaml --json | jq '.batch[].recipe'`,
		Args:              requireOneArg("problem file"),
		ValidArgsFunction: completeProblemFiles,
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkTableName(out); err != nil {
				return err
			}
			return withCampaign(c, args[0], given, func(k *campaign.Campaign) error {
				s := campaign.SettingsOf(k.Problem, currentBuild().Version)
				if c.Flags().Changed("number") {
					s.BatchSize = size
				}
				if c.Flags().Changed("seed") {
					s.Seed = seed
				}
				b, again, err := nextBatch(c.Context(), k, s, out)
				if err != nil {
					return err
				}
				table, written, err := saveBatchTable(k, b, out)
				if err != nil {
					return err
				}
				return writeResult(c.Context(), c.OutOrStdout(), asJSON, jsonOf(b), func(w io.Writer) error {
					return printBatch(w, b, args[0], table, again, written)
				})
			})
		},
	}
	c.Flags().IntVarP(&size, "number", "n", 0, "`NUMBER` of recipes (default: campaign.batch of the problem, or 8)")
	c.Flags().Uint64Var(&seed, "seed", 0, "start of the random numbers, a `NUMBER` (default: that of the problem)")
	c.Flags().StringVarP(&out, "output", "o", "", "`TABLE` to fill in, .csv or .xlsx, which must not exist (default: problem.batch-001.csv and so on, for problem.yaml)")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	addGivenFlag(c, &given)
	must(c.MarkFlagFilename("output", "csv", "xlsx"))
	return c
}

// checkTableName returns an error if the path does not have the extension of a table.
func checkTableName(path string) error {
	switch ext := strings.ToLower(filepath.Ext(path)); {
	case path == "" || ext == ".csv" || ext == ".xlsx":
		return nil
	default:
		return &inputerr.Error{File: path, Message: "the table of a batch is CSV or a workbook", Hint: "name a file ending in .csv or .xlsx"}
	}
}

// applyGivenConditions returns the text of a problem file with changed conditions: they have the given values,
// each written as NAME=VALUE. It returns nil if no values are given.
func applyGivenConditions(c *cobra.Command, path string, given []string) ([]byte, error) {
	if len(given) == 0 {
		return nil, nil
	}
	s, err := readSource(c, path)
	if err != nil {
		return nil, err
	}
	var changes []change.Change
	for _, text := range given {
		one, err := s.parseConditionValue("given", text)
		if err != nil {
			return nil, err
		}
		changes = append(changes, one)
	}
	return change.Apply(s.problemFile, s.Text, changes...)
}

// addGivenFlag adds to a command the flag --given, by which the user gives values to conditions.
func addGivenFlag(c *cobra.Command, given *[]string) {
	c.Flags().StringArrayVar(given, "given", nil, "value of a condition of the trial that you cannot choose, `NAME=VALUE`, such as humidity=40")
	must(c.RegisterFlagCompletionFunc("given", completeConditions))
}

// withCampaign opens the campaign of a problem, calls the function useCampaign with the campaign, and closes
// the campaign. given holds values of conditions, each as NAME=VALUE.
func withCampaign(c *cobra.Command, path string, given []string, useCampaign func(*campaign.Campaign) error) (err error) {
	text, err := applyGivenConditions(c, path, given)
	if err != nil {
		return err
	}
	d := newSpinner(c.Context(), c.ErrOrStderr(), false)
	defer d.endWork()
	k, err := campaign.Open(c.Context(), path, compile.Options{Text: text, Notify: d.printMessage, Progress: d.beginWork, CacheCounts: true})
	if err != nil {
		return err
	}
	d.endWork()
	defer func() { err = errors.Join(err, k.Close()) }()
	return useCampaign(k)
}

// nextBatch returns the next batch of recipes to try. If nothing has been recorded since the last batch was
// made, it returns the last batch again.
func nextBatch(ctx context.Context, k *campaign.Campaign, s campaign.Settings, out string) (b *campaign.Batch, again bool, err error) {
	if b, err = k.UnchangedBatch(s); b != nil || err != nil {
		return b, true, err
	}
	if out == "" {
		out = k.TablePath(k.Round() + 1)
	}
	if _, err := os.Lstat(out); err == nil {
		return nil, false, &inputerr.Error{File: out, Message: "the file exists", Hint: "name another with -o, or move it away", Err: fs.ErrExist}
	}
	if _, err := os.Stat(filepath.Dir(out)); err != nil {
		return nil, false, err
	}
	b, err = k.Next(ctx, s)
	if errors.Is(err, fs.ErrExist) {
		return nil, false, &inputerr.Error{File: k.Problem.File, Message: "another kir has just chosen this batch", Hint: "run kir next again, which prints it"}
	}
	return b, false, err
}

// saveBatchTable writes a batch of recipes as a table, unless the file exists.
func saveBatchTable(k *campaign.Campaign, b *campaign.Batch, out string) (path string, written bool, err error) {
	if path = out; path == "" {
		path = k.TablePath(b.Round)
	}
	err = k.SaveTable(b, path)
	if errors.Is(err, fs.ErrExist) && out == "" {
		return path, false, nil // it may be half filled in
	}
	if errors.Is(err, fs.ErrExist) {
		return path, false, &inputerr.Error{File: path, Message: "the file exists", Hint: "name another with -o", Err: err}
	}
	return path, err == nil, err
}

func printBatch(w io.Writer, b *campaign.Batch, problemFile, table string, again, written bool) error {
	var text bytes.Buffer
	if err := view.Batch(&text, b, textStyle(w)); err != nil {
		return err
	}
	fmt.Fprintln(&text)
	if again {
		fmt.Fprintln(&text, "No result was recorded since: this is the last batch again.")
	}
	verb := "Fill in"
	if written {
		verb = "Written: " + table + "\nFill it in"
	} else {
		verb += " " + table
	}
	fmt.Fprintf(&text, "%s, then: kir record %s %s\n", verb, terminal.ShellWord(problemFile), terminal.ShellWord(table))
	_, err := w.Write(text.Bytes())
	return err
}
