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
	headings := []string{"ingredients used", "target share", "possible recipes"}
	measured := len(c.Sizes) > 0 && c.Sizes[0].Share != nil
	if measured {
		headings = []string{"ingredients used", "target share", "recipes counted", "of these, allowed"}
	}
	t := terminal.NewTable(0, headings...)
	shown, estimated, relative := c.Sizes, false, 0.0 // relative is the largest relative error of a share
	const most = 40
	if len(shown) > most {
		shown = shown[:most]
	}
	for _, s := range shown {
		cells := []any{s.N, number.Percent(s.Target), number.Big(s.Compositions)}
		if measured {
			share := fmt.Sprintf("%.3g %%", float64(100*s.Share.Estimate))
			if s.Share.SE > 0 {
				share += fmt.Sprintf(" ± %.1g %%", float64(100*s.Share.SE))
				estimated = true
				relative = max(relative, float64(s.Share.SE/s.Share.Estimate))
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
		p.Wrapped(0, "Recipes counted meet some constraints; kir estimated which share of these meets all, as "+c.WhyUntabled+" (±: standard error). Target shares have the same relative errors, up to "+number.Percent(relative)+".")
	case measured:
		p.Line("Recipes counted meet some constraints; kir looked at each to count those that meet all.")
	}
	p.Line("Target share: among random recipes (drawn without objectives).")
	writeProperties(p, c.Properties, false)
	p.Line("")
	if c.Sampler.Kernel == c.Kernel.Kernel {
		p.Line("Sampling algorithm (kernel): %s, as kir recommends: %s.", c.Sampler.Kernel, c.Kernel.Because)
	} else {
		p.Line("Sampling algorithm (kernel): %s. kir recommends %s: %s.", c.Sampler.Kernel, c.Kernel.Kernel, c.Kernel.Because)
	}
	writeWarnings(p, c.Warnings)
	return p.Err
}
