package compile

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kir/internal/assetstats"
	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
)

// estimateMarket estimates annual expected returns and their covariance from prices or returns over time. It
// adds a warning that tells how it has interpreted the table.
func estimateMarket(ctx context.Context, s *readContext, v *config.Markowitz, n *yaml.Node) (*market, error) {
	h, err := readHistory(ctx, s, &v.Returns, n)
	if err != nil {
		return nil, err
	}
	m := &market{historyKind: h.guessKind()}
	if v.HistoryKind.Node != nil {
		m.historyKind = historyKinds()[v.HistoryKind.Value]
	}
	if err := h.checkValues(m.historyKind); err != nil {
		return nil, err
	}
	rhythm, known := h.rowFrequency()
	m.periodsPerYear = v.Periods.Or(rhythm.PeriodsPerYear)
	if v.Periods.Node == nil && !known {
		return nil, yaml.Hint(n.Errorf("the first column of %s does not tell how many rows a year has: it begins with %s", inputerr.Quote(h.file.Text), inputerr.List(h.Times, 3)), "write dates such as 2024-01-31, or add periods: 252 of trading days, 52 of weeks, 12 of months")
	}
	returns := assetstats.ToReturns(h.completeValues, m.historyKind)
	moments, err := assetstats.Estimate(returns, m.periodsPerYear)
	gaps := h.gapsText(s.IngredientNames)
	if err != nil {
		return nil, yaml.Hint(h.file.Errorf("%s has %s without a gap: %v%s", inputerr.Quote(h.file.Text), inputerr.Count(len(h.completeValues), "row"), err, strings.TrimSuffix(strings.Replace(gaps, " Left out:", "; left out:", 1), ".")), "add rows, fill the gaps, or leave out the ingredients that have them")
	}
	m.expectedReturns, m.covariance = moments.Mean, moments.Covariance
	for word, kind := range historyKinds() {
		if kind == m.historyKind {
			m.historyKindWord = word
		}
	}
	m.historyDescription = fmt.Sprintf(", a year, from %s over %s", m.historyKind, inputerr.Count(len(returns), "period"))
	text := h.kindAndFrequencyText(v, m, rhythm) + fmt.Sprintf(" The covariance is shrunk toward a constant correlation of %.2f by the intensity %.2f (Ledoit and Wolf 2004).", moments.Correlation, moments.Intensity) + gaps
	if len(h.otherColumns) > 0 {
		text += fmt.Sprintf(" Left out: the columns %s, which are no ingredients.", inputerr.List(h.otherColumns, 8))
	}
	if !slices.Contains(s.Warnings, text) { // several properties may use the same history
		s.Warn(text)
	}
	return m, nil
}

// kindAndFrequencyText returns a sentence about the table: whether it has prices or returns, and how many rows
// a year has.
func (h *marketHistory) kindAndFrequencyText(v *config.Markowitz, m *market, rhythm assetstats.Frequency) string {
	text := fmt.Sprintf("%s has %s", h.file.Text, m.historyKind)
	if v.HistoryKind.Node == nil {
		other := "returns"
		if m.historyKind != assetstats.Prices {
			other = "prices"
		}
		text = fmt.Sprintf("%s was taken for %s (as: %s says otherwise)", h.file.Text, m.historyKind, other)
	}
	if v.Periods.Node == nil {
		return text + fmt.Sprintf(", %s by its dates: %.4g periods a year (periods says otherwise).", rhythm.Name, m.periodsPerYear)
	}
	return text + fmt.Sprintf(", %.4g periods a year.", m.periodsPerYear)
}

// historyKinds maps the words that may stand under the key "as" in a problem file to kinds of histories.
func historyKinds() map[string]assetstats.Kind {
	return map[string]assetstats.Kind{"prices": assetstats.Prices, "returns": assetstats.Returns, "percent": assetstats.Percent}
}
