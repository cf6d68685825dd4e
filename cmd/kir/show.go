package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"kir/fault"
	"kir/report"
	"kir/report/view"
)

func newShowCommand() *cobra.Command {
	var asJSON bool
	var best, diverse int
	c := &cobra.Command{
		Use:   "show RUN",
		Short: "Say what a run found",
		Long: `Print what is said of a finished run: whether it can be trusted, the best new
compositions, and every figure with its error.

--best K prints the K best sets of ingredients and nothing else, --diverse K the
K that score well and differ from each other. These are chosen one by one; the
next is the one with the largest

  0.7 · score / best score − 0.3 · the largest overlap with those before it,

overlap being |A ∩ B| / min(|A|, |B|) of the sets of ingredients.`,
		Example: `  kir show runs/fresh-all-day-cocktails-1
  kir show runs/fresh-all-day-cocktails-1 --diverse 10
  kir show runs/fresh-all-day-cocktails-1 --best 3 --json | jq .best[].recipe`,
		Args:              one("run directory"),
		ValidArgsFunction: runDirectories,
		RunE: func(c *cobra.Command, args []string) error {
			for _, f := range []struct {
				name  string
				value int
			}{{"best", best}, {"diverse", diverse}} {
				if c.Flags().Changed(f.name) && f.value < 1 {
					return &fault.Error{Message: fmt.Sprintf("--%s is %d", f.name, f.value), Hint: "it must be at least 1"}
				}
			}
			m, err := readModel(c, args[0])
			if err != nil {
				return err
			}
			if best == 0 && diverse == 0 {
				return printModel(c.OutOrStdout(), m, args[0], asJSON)
			}
			return printShortlist(c.OutOrStdout(), c.ErrOrStderr(), m, best, diverse, asJSON)
		},
	}
	c.Flags().IntVar(&best, "best", 0, "print the `K` best compositions only, at most 100")
	c.Flags().IntVar(&diverse, "diverse", 0, "print `K` good compositions that differ, at most 50")
	c.Flags().BoolVar(&asJSON, "json", false, "print summary.json, or with --best or --diverse these parts of it")
	return c
}

// printShortlist prints the beginnings of the lists that are asked for.
func printShortlist(out, messages io.Writer, m *report.Model, best, diverse int, asJSON bool) error {
	s := m.Shortlist(best, diverse)
	for _, l := range []struct {
		name        string
		asked, have int
	}{{"best", best, len(s.Best)}, {"diverse", diverse, len(s.Diverse)}} {
		if l.have < l.asked {
			fmt.Fprintf(messages, "kir: --%s %d: there are %d\n", l.name, l.asked, l.have)
		}
	}
	if asJSON {
		return writeJSON(out, s)
	}
	return view.Shortlist(out, s, m, textStyle(out))
}
