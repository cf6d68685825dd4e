package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"kir/internal/campaign"
	"kir/internal/report/view"
	"kir/internal/terminal"
)

func newCampaignCommand() *cobra.Command {
	var out string
	var asJSON, asPage bool
	var given []string
	c := &cobra.Command{
		Use:   "campaign PROBLEM [--json | --html] [-o FILE]",
		Short: "Print the results of all batches made so far, and whether to go on",
		Long: `Print the progress of a campaign, in which you make and measure recipes in batches. It
shows the best recipe of each batch, predictions beside results, the probability that a
better recipe exists within the constraints, and whether to stop.

-o writes one HTML file with figures; --html prints it instead.`,
		Example: `  kir campaign problem.yaml
  kir campaign problem.yaml -o campaign.html
  kir campaign problem.yaml --json | jq .left.advice`,
		Args:              requireOneArg("problem file"),
		ValidArgsFunction: completeProblemFiles,
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkPageName(out); err != nil {
				return err
			}
			return withCampaign(c, args[0], given, func(k *campaign.Campaign) error {
				s, err := k.ComputeStanding(c.Context(), campaign.SettingsOf(k.Problem, currentBuild().Version))
				if err != nil {
					return err
				}
				if out != "" || asPage {
					var b bytes.Buffer
					if err := view.StandingPage(&b, s); err != nil {
						return err
					}
					if out == "" {
						_, err := c.OutOrStdout().Write(b.Bytes())
						return err
					}
					if err := savePage(c.Context(), out, b.Bytes()); err != nil {
						return err
					}
					_, err := fmt.Fprintln(c.OutOrStdout(), terminal.EscapeControls(out))
					return err
				}
				return writeResult(c.Context(), c.OutOrStdout(), asJSON, jsonOf(s), func(w io.Writer) error {
					return view.Standing(w, s, textStyle(w))
				})
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	c.Flags().BoolVar(&asPage, "html", false, "write the HTML page to stdout")
	c.Flags().StringVarP(&out, "output", "o", "", "HTML `FILE` to write")
	addGivenFlag(c, &given)
	must(c.MarkFlagFilename("output", "html"))
	c.MarkFlagsMutuallyExclusive("json", "html")
	c.MarkFlagsMutuallyExclusive("json", "output")
	return c
}
