package view

import (
	"fmt"
	"io"

	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/terminal"
)

// Check writes the report on a problem before sampling as text.
func Check(w io.Writer, c *report.Check) error {
	p := terminal.NewPrinter(w, terminal.Style{})
	p.Line("%s", terminal.EscapeControls(c.Problem.Name))
	p.Line("%s", c.Problem.Describe())
	p.Line("")
	headings := []string{"ingredients used", "wanted", "possible recipes"}
	measured := len(c.Sizes) > 0 && c.Sizes[0].Share != nil
	if measured {
		headings = append(headings, "share that meets all constraints")
	}
	t := terminal.NewTable(0, headings...)
	shown, estimated := c.Sizes, false
	const most = 40
	if len(shown) > most {
		shown = shown[:most]
	}
	for _, s := range shown {
		cells := []any{s.N, number.Percent(s.Target), number.Big(s.Compositions)}
		if measured {
			share := fmt.Sprintf("%.3g", float64(s.Share.Estimate))
			if s.Share.SE > 0 {
				share += fmt.Sprintf(" ± %.1g", float64(s.Share.SE))
				estimated = true
			}
			cells = append(cells, share)
		}
		t.Row(cells...)
	}
	if len(shown) < len(c.Sizes) {
		t.Row("…", "", fmt.Sprintf("%d more sizes: see --json", len(c.Sizes)-most))
	}
	t.Row("all", "", number.Big(c.Compositions))
	p.Table(t)
	switch {
	case estimated:
		p.Wrapped(0, "kir estimated the share of recipes that meet all constraints, instead of counting them: "+c.WhyUntabled+". The probabilities of the numbers of ingredients are as uncertain as these shares.")
	case measured:
		p.Line("kir counted some constraints by looking at every recipe.")
	}
	writeProperties(p, c.Properties)
	p.Line("")
	if c.Sampler.Kernel == c.Kernel.Kernel {
		p.Line("Kernel (sampling algorithm): %s, as kir recommends: %s.", c.Sampler.Kernel, c.Kernel.Because)
	} else {
		p.Line("Kernel (sampling algorithm): %s. Recommended: %s, as %s.", c.Sampler.Kernel, c.Kernel.Kernel, c.Kernel.Because)
	}
	writeWarnings(p, c.Warnings)
	return p.Err
}
