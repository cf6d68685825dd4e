package front

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kir/internal/pareto"
	"kir/internal/search"
	"kir/internal/testonly/testmode"
)

// TestBesideNSGA: on a front that bends inwards, on the efficient frontier of the example and
// on concrete, kir's hypervolume is at least that of NSGA-II at ten times the evaluations:
// within the same ideal and reference, the mean over three seeds each. Short, the frontier is
// left out and both have a tenth of the lines.
func TestBesideNSGA(t *testing.T) {
	bent, err := WriteBent(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]string{"bent inwards": bent}
	if dir := os.Getenv("KIR_EXPERIMENTS"); dir != "" {
		if cases["concrete"], err = WriteConcrete(t.TempDir(), dir); err != nil {
			t.Fatal(err)
		}
	}
	effort := 0.1
	if testmode.Enabled() {
		effort = 1
		cases["frontier"] = filepath.Join("..", "..", "examples", "portfolio", "frontier.yaml")
	}
	for name, path := range cases {
		t.Run(name, func(t *testing.T) {
			p, c, err := Read(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { p.Close() })
			lines := search.FrontLineBudget(p.Total, effort)
			var own, theirs [][][]float64
			var all [][]float64
			spent := 0
			for seed := range uint64(3) {
				got, err := search.TradeOff(t.Context(), c.Target, c.Objectives, search.TradeOptions{
					Lines: lines, Seed: seed, Starts: c.Known, Least: c.Least, Most: c.Most, SkipRandomVolumes: true,
				})
				if err != nil {
					t.Fatal(err)
				}
				spent = max(spent, int(got.Lines))
				var points [][]float64
				for _, m := range got.Front {
					points = append(points, m.Losses)
				}
				own, all = append(own, points), append(all, points...)
			}
			for seed := range uint64(3) {
				points, err := c.Evolve(t.Context(), 10*spent, seed)
				if err != nil {
					t.Fatal(err)
				}
				theirs, all = append(theirs, points), append(all, points...)
			}
			ideal, nadir := pareto.Bounds(minimal(all))
			reference := pareto.HypervolumeReference(ideal, nadir)
			one := make([]float64, len(ideal))
			for k := range one {
				one[k] = 1
			}
			var said [2][]string
			var mean [2]float64
			for k, list := range [2][][][]float64{own, theirs} {
				for _, points := range list {
					v := pareto.Hypervolume(pareto.ScaleLosses(points, ideal, reference), one)
					mean[k] += v / float64(len(list))
					said[k] = append(said[k], fmt.Sprintf("%.5f", v))
				}
			}
			t.Logf("%d lines: kir %s, NSGA-II with %d evaluations %s", spent, strings.Join(said[0], " "), 10*spent, strings.Join(said[1], " "))
			if mean[0] < mean[1] {
				t.Errorf("kir has a hypervolume of %.5f, NSGA-II of %.5f", mean[0], mean[1])
			}
		})
	}
}
