package report

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"kir"
)

// The ladders of the model are those of the run, and log Z is pooled of them. It
// agrees with the mean score over random compositions, of which it is the log.
func TestLadders(t *testing.T) {
	made := sampleFile(t, filepath.Join("..", "examples", "cocktails", "problem.yaml"), func(s *kir.Settings) {
		s.Kernel, s.Draws, s.Warmup = "tempered", 1500, 700
	})
	m := made.model
	if len(m.Ladders) != len(made.result.Chains) {
		t.Fatalf("there are %d ladders", len(m.Ladders))
	}
	var ladders []*kir.Ladder
	for k, c := range made.result.Chains {
		l, want := m.Ladders[k], c.Ladder
		ladders = append(ladders, want)
		if l.Chain != k || l.Scans != 1500 || l.Restarts != want.Restarts || l.RoundTrips != want.RoundTrips || float64(l.Barrier) != want.Barrier ||
			float64(l.LogZ.Value) != want.LogZ || float64(l.LogZ.SE) != want.LogZError || len(l.Rungs) != len(want.Rungs) {
			t.Errorf("ladder %d is %+v, want %+v", k, l, want)
		}
		if l.RoundTrips == 0 || len(l.Rungs) < 2 {
			t.Errorf("ladder %d: %d round trips on %d rungs: there is nothing to compare", k, l.RoundTrips, len(l.Rungs))
		}
		for q, g := range l.Rungs {
			w := want.Rungs[q]
			if float64(g.Beta) != w.Beta || float64(g.Barrier) != w.Barrier || float64(g.MeanLogScore) != w.MeanLogScore || float64(g.Forbidden) != w.Forbidden {
				t.Errorf("rung %d of ladder %d is %+v, want %+v", q, k, g, w)
			}
			if last := q == len(l.Rungs)-1; g.Rejected.Known() == last || !last && float64(g.Rejected) != w.Rejected {
				t.Errorf("rung %d of ladder %d rejects %v, want %v", q, k, g.Rejected, w.Rejected)
			}
		}
	}
	value, se := kir.PoolLogZ(ladders...)
	if float64(m.LogZ.Value) != value || float64(m.LogZ.SE) != se {
		t.Errorf("log Z is %+v, want %v ± %v", m.LogZ, value, se)
	}
	// To first order the error of the log is the relative error. Beyond 4.5
	// standard errors it is by chance once in 150,000.
	random := math.Log(float64(m.Score.Random))
	if off := math.Abs(value - random); off > 4.5*math.Hypot(se, float64(m.Score.RandomSE/m.Score.Random)) {
		t.Errorf("log Z is %v ± %v, and the log of the mean random score %v", value, se, random)
	}
	if len(m.Moves) == 0 {
		t.Error("the moves are not told")
	}

	// Other kernels have none, and no log Z: an empty list, and null.
	data, err := cocktails(t).model.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(data, &tree); err != nil {
		t.Fatal(err)
	}
	if l, ok := tree["ladders"].([]any); !ok || len(l) != 0 {
		t.Errorf("ladders are %v", tree["ladders"])
	}
	if z, ok := tree["log_z"]; !ok || z != nil {
		t.Errorf("log_z is %v", z)
	}
}

func TestLadderWarnings(t *testing.T) {
	unknown := Number(math.NaN())
	ladder := func(chain int, trips int64, se Number, rejected ...Number) Ladder {
		l := Ladder{Chain: chain, Scans: 1000, RoundTrips: trips, LogZ: Estimate{1, se}}
		for k, r := range append(rejected, unknown) {
			l.Rungs = append(l.Rungs, Rung{Beta: Number(k) / Number(max(1, len(rejected))), Rejected: r})
		}
		return l
	}
	forbidden := ladder(0, 5, 0.1, 0.96, 0.3)
	forbidden.Rungs[0].Forbidden = 0.94
	both := ladder(0, 5, 0.1, 0.9999, 0.3)
	both.Rungs[0].Forbidden = 0.94
	off := ladder(1, 5, 0.1, 0.4)
	off.LogZ.Value = 2 // 5 errors of 2 chains' mean
	near := ladder(1, 5, 0.1, 0.4)
	near.LogZ.Value = 1.5
	for _, c := range []struct {
		name    string
		ladders []Ladder
		want    []string // beginnings and ways out
		grade   Grade    // of what would be sound without
	}{
		{"none", nil, nil, Sound},
		{"well", []Ladder{ladder(0, 5, 0.1, 0.4, 0.5), ladder(1, 1, 0.1, 0.9, 0.95)}, nil, Sound},
		{"one rung", []Ladder{ladder(0, 0, 0)}, nil, Sound},
		{"shut", []Ladder{ladder(0, 5, 0.1, 0.4), ladder(1, 0, 0.1, 0.4)}, []string{"Chain 1 made no round trip", "ten times the warm-up"}, Short},
		{"all shut", []Ladder{ladder(0, 0, 0.1, 0.4), ladder(1, 0, 0.1, 0.4)}, []string{"2 of 2 chains made no round trip", "ten times the warm-up"}, Short},
		{"blocked", []Ladder{ladder(0, 5, 0.1, 0.4, 0.96), ladder(1, 5, 0.1, 0.4, 0.99, 0.4, 0.4)},
			[]string{"Swaps between β = 0.25 and 0.5 are rejected 99.0 % of the time (chain 1)", "longer warm-up"}, Sound},
		{"forbidden", []Ladder{forbidden}, []string{"Of the random compositions at β = 0, 94.0 % score 0", "a floor"}, Sound},
		{"forbidden and blocked", []Ladder{both}, []string{"Swaps between β = 0 and 0.5 are rejected 100.0 % of the time (chain 0)", "longer warm-up"}, Sound},
		{"apart", []Ladder{ladder(0, 5, 0.1, 0.4), off}, []string{"The chains disagree on log Z, from 1.00 to 2.00", "ten times the warm-up"}, Unsound},
		{"near", []Ladder{ladder(0, 5, 0.1, 0.4), near}, nil, Sound},
		{"blind", []Ladder{ladder(0, 5, 0.1, 0.4), ladder(1, 5, unknown, 0.4)}, []string{"The standard error of log Z of chain 1 cannot be told from 1,000 scans", "Take more draws"}, Sound},
	} {
		t.Run(c.name, func(t *testing.T) {
			verdict, grade := judged("It is worth much.", Sound, c.ladders)
			if grade != c.grade || !strings.HasSuffix(verdict, "It is worth much.") || (grade == Sound) != (verdict == "It is worth much.") {
				t.Errorf("the verdict is %q, %s, want %s", verdict, grade, c.grade)
			}
			if _, grade := judged("", Unsound, c.ladders); grade != Unsound {
				t.Errorf("what is unsound becomes %s", grade)
			}
			got := strings.Join(ladderWarnings(c.ladders), "\n")
			if (got == "") != (c.want == nil) {
				t.Fatalf("it is warned of %q", got)
			}
			if lines := strings.Count(got, "\n"); lines > 0 {
				t.Errorf("there are %d warnings: %s", lines+1, got)
			}
			for _, w := range c.want {
				if !strings.Contains(got, w) {
					t.Errorf("%q lacks %q", got, w)
				}
			}
		})
	}
}

// Each figure of a ladder stands where it belongs.
func TestLadderText(t *testing.T) {
	m := cocktails(t).model
	rungs := []Rung{{0, 0.125, 0, -9.5, 0.25}, {0.5, 0.75, 0.125, -2.5, 0}, {1, Number(math.NaN()), 0.875, -1.5, 0}}
	m.Ladders = []Ladder{{Chain: 0, Scans: 4321, Restarts: 77, RoundTrips: 66, Barrier: 0.875, LogZ: Estimate{-3.25, 0.5}, Rungs: rungs}}
	m.LogZ = &Estimate{-3.125, 0.625}
	text := checkText(t, m)
	for _, want := range []string{
		"    0      2        77           66   75.00 %  0.88  -3.250  0.5",
		"  0   12.50 %  0.00            -9.5    25.00 %",
		"0.5   75.00 %  0.12            -2.5     0.00 %",
		"  1            0.88            -1.5     0.00 %",
		"In 4,321 scans a chain",
		"is -3.125 ±",
		"Scans: ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text[strings.Index(text, "Tempering"):])
		}
	}
}
