package paper

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// WriteText prints the rates beside the paper's and the exact ones. What else
// there is, is on the page.
func (r *Report) WriteText(w io.Writer) error {
	for _, t := range r.Tables {
		if _, err := fmt.Fprintf(w, "%s: %s, %d sequences of %d iterations, the first %d discarded\n", t.Name, t.Title, r.Sequences, t.Iterations, t.Discarded); err != nil {
			return err
		}
		tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(tw, "target\tkernel\trate\tpaper %\texact %\tkir %\t± sd\tz\t")
		for _, row := range t.Rows {
			published, own := "—", ""
			if row.Paper != nil {
				published = fmt.Sprintf("%.2f", *row.Paper)
			}
			if row.Kernel == KernelUncorrected {
				own = "*"
			}
			fmt.Fprintf(tw, "%s\t%s%s\t%s\t%s\t%.3f\t%.3f\t%.3f\t%.1f\t\n", row.Target, row.Kernel, own, row.Rate, published, row.Exact, row.Mean, row.SD, row.Z)
		}
		if err := tw.Flush(); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	_, err := fmt.Fprint(w, `z is the distance from exact in standard errors over the sequences; — is a value
that was not available.
* The reading of the paper's naive sampler without the Hastings correction. It
  follows another law than the target, and exact is its rate there. On the large
  targets no start drawn from the target gets to that law, since no candidate is
  ever accepted: z then says how far the two are apart, and of no fault.
`)
	return err
}
