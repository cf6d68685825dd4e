package paper

import (
	"io"

	"kir/internal/number"
	"kir/internal/terminal"
)

// WriteText prints a table with each measured rate beside the rate in the paper and the exact rate. The page of
// WriteHTML shows all other results, too.
func (r *Report) WriteText(w io.Writer) error {
	p := terminal.NewPrinter(w, terminal.Style{})
	for _, t := range r.Tables {
		p.Line("%s: %s, %d sequences of %d iterations, the first %d discarded", t.Name, t.Title, r.Sequences, t.Iterations, t.Discarded)
		rates := terminal.NewTable(3, "target", "kernel", "rate", "paper %", "exact %", "kir %", "± sd", "z")
		for _, row := range t.Rows {
			published := "—"
			if row.Paper != nil {
				published = number.Fixed(*row.Paper, 2)
			}
			rates.Row(row.Target, row.Kernel, row.Rate, published, number.Fixed(row.Exact, 3), number.Fixed(row.Mean, 3), number.Fixed(row.SD, 3), number.Typeset(row.Z, 1))
		}
		p.Table(rates)
		p.Line("")
	}
	p.Wrapped(0, "z is the distance from exact in standard errors over the sequences; — is a value that was not available. The paper's naive rates are those of another sampler, and its gibbs rates fit no reading that we know: see the page.")
	return p.Err
}
