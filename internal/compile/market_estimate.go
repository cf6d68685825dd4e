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

// estimateMarket estimates annual expected returns and covariance from prices or returns over time, and
// warns how it interpreted the history.
func estimateMarket(ctx context.Context, s *readContext, v *config.Markowitz, n *yaml.Node) (*market, error) {
	h, err := readHistory(ctx, s, &v.Returns, n)
	if err != nil {
		return nil, err
	}
	m := &market{kind: h.guessKind()}
	if v.As.At != nil {
		m.kind = historyKinds()[v.As.Value]
	}
	if err := h.check(m.kind); err != nil {
		return nil, err
	}
	rhythm, known := h.frequency()
	m.periods = v.Periods.Or(rhythm.Periods)
	if v.Periods.At == nil && !known {
		return nil, yaml.Hint(n.Errorf("the first column of %s does not tell how many rows a year has: it begins with %s", inputerr.Quote(h.file.Text), inputerr.List(h.Times, 3)), "write dates such as 2024-01-31, or add periods: 252 of trading days, 52 of weeks, 12 of months")
	}
	returns := assetstats.Compute(h.values, m.kind)
	moments, err := assetstats.Estimate(returns, m.periods)
	gaps := h.gapsText(s.Names)
	if err != nil {
		return nil, yaml.Hint(h.file.Errorf("%s has %s without a gap: %v%s", inputerr.Quote(h.file.Text), inputerr.Count(len(h.values), "row"), err, strings.TrimSuffix(strings.Replace(gaps, " Left out:", "; left out:", 1), ".")), "add rows, fill the gaps, or leave out the ingredients that have them")
	}
	m.returns, m.covariance = moments.Mean, moments.Covariance
	for word, kind := range historyKinds() {
		if kind == m.kind {
			m.word = word
		}
	}
	m.source = fmt.Sprintf(", a year, from %s over %s", m.kind, inputerr.Count(len(returns), "period"))
	text := h.kindAndFrequencyText(v, m, rhythm) + fmt.Sprintf(" The covariance is shrunk toward a constant correlation of %.2f by the intensity %.2f (Ledoit and Wolf 2004).", moments.Correlation, moments.Intensity) + gaps
	if len(h.left) > 0 {
		text += fmt.Sprintf(" Left out: the columns %s, which are no ingredients.", inputerr.List(h.left, 8))
	}
	if !slices.Contains(s.Warnings, text) { // several properties may use the same history
		s.Warn(text)
	}
	return m, nil
}

// kindAndFrequencyText says what the numbers of the history are or were taken for, and how many rows a year has.
func (h *marketHistory) kindAndFrequencyText(v *config.Markowitz, m *market, rhythm assetstats.Frequency) string {
	text := fmt.Sprintf("%s has %s", h.file.Text, m.kind)
	if v.As.At == nil {
		other := "returns"
		if m.kind != assetstats.Prices {
			other = "prices"
		}
		text = fmt.Sprintf("%s was taken for %s (as: %s says otherwise)", h.file.Text, m.kind, other)
	}
	if v.Periods.At == nil {
		return text + fmt.Sprintf(", %s by its dates: %.4g periods a year (periods says otherwise).", rhythm.Words, m.periods)
	}
	return text + fmt.Sprintf(", %.4g periods a year.", m.periods)
}

// historyKinds returns the kinds of histories by the values of the key as.
func historyKinds() map[string]assetstats.Kind {
	return map[string]assetstats.Kind{"prices": assetstats.Prices, "returns": assetstats.Returns, "percent": assetstats.Percent}
}
