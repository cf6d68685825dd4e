package assemble

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"kir/internal/report"
	"kir/internal/run"
	"kir/mcmc"
)

// The ladders of the model are those of the run, and log Z is pooled of them. It
// agrees with the mean score over random compositions, of which it is the log.
func TestLadders(t *testing.T) {
	made := sampleFile(t, filepath.Join("..", "..", "..", "examples", "cocktails", "problem.yaml"), func(s *mcmc.Settings) {
		s.Kernel, s.Draws, s.Warmup = "tempered", 1500, 700
	})
	m := made.model
	if len(m.Ladders) != len(made.result.Chains) {
		t.Fatalf("there are %d ladders", len(m.Ladders))
	}
	var ladders []*mcmc.LadderStatistics
	for k, c := range made.result.Chains {
		l, want := m.Ladders[k], c.Ladder
		ladders = append(ladders, want)
		if l.Chain != k || l.Scans != 1500 || l.Restarts != want.Restarts || l.RoundTrips != want.RoundTrips || float64(l.Barrier) != want.Barrier ||
			float64(l.LogZ.Value) != want.LogZ || float64(l.LogZ.SE) != want.LogZError || len(l.Rungs) != len(want.Rungs) {
			t.Errorf("ladder %d is %+v, want %+v", k, l, want)
		}
		if leg, learnt := l.Learnt, want.Learnt; (leg == nil) != (learnt == nil) || leg != nil && (leg.Steps != len(learnt.Rungs)-1 || leg.RoundTrips != learnt.RoundTrips ||
			leg.Restarts != learnt.Restarts || float64(leg.Barrier) != learnt.Barrier || float64(leg.LogZ.Value) != learnt.LogZ || float64(leg.LogZ.SE) != learnt.LogZError) {
			t.Errorf("ladder %d has the learnt leg %+v, want %+v", k, leg, learnt)
		}
		if l.RoundTrips == 0 || len(l.Rungs) < 2 {
			t.Errorf("ladder %d: %d round trips on %d rungs: there is nothing to compare", k, l.RoundTrips, len(l.Rungs))
		}
		for q, g := range l.Rungs {
			w := want.Rungs[q]
			if float64(g.Beta) != w.Beta || float64(g.Barrier) != w.Barrier || float64(g.MeanLogScore) != w.MeanLogScore || float64(g.Forbidden) != w.Forbidden {
				t.Errorf("rung %d of ladder %d is %+v, want %+v", q, k, g, w)
			}
			if last := q == len(l.Rungs)-1; g.Rejected.IsKnown() == last || !last && float64(g.Rejected) != w.Rejected {
				t.Errorf("rung %d of ladder %d rejects %v, want %v", q, k, g.Rejected, w.Rejected)
			}
		}
	}
	value, se := mcmc.MeanLogZ(ladders...)
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
	unknown := report.Number(math.NaN())
	ladder := func(chain int, trips int64, se report.Number, rejected ...report.Number) run.Ladder {
		l := run.Ladder{Chain: chain, Scans: 1000, RoundTrips: trips, LogZ: run.Estimate{Value: 1, SE: se}}
		for k, r := range append(rejected, unknown) {
			l.Rungs = append(l.Rungs, run.Rung{Beta: report.Number(k) / report.Number(max(1, len(rejected))), Rejected: r})
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
	learnt := func(value report.Number) run.Ladder {
		l := ladder(0, 5, 0.3, 0.4)
		l.Learnt = &run.Leg{Steps: 1, LogZ: run.Estimate{Value: value, SE: 0.4}}
		return l
	}
	for _, c := range []struct {
		name    string
		ladders []run.Ladder
		want    []string     // beginnings and ways out
		grade   report.Grade // of what would be sound without
	}{
		{"none", nil, nil, report.Sound},
		{"well", []run.Ladder{ladder(0, 5, 0.1, 0.4, 0.5), ladder(1, 1, 0.1, 0.9, 0.95)}, nil, report.Sound},
		{"one rung", []run.Ladder{ladder(0, 0, 0)}, nil, report.Sound},
		{"shut", []run.Ladder{ladder(0, 5, 0.1, 0.4), ladder(1, 0, 0.1, 0.4)}, []string{"Chain 1 made no round trip", "ten times the --warmup"}, report.Short},
		{"all shut", []run.Ladder{ladder(0, 0, 0.1, 0.4), ladder(1, 0, 0.1, 0.4)}, []string{"2 of 2 chains made no round trip", "ten times the --warmup"}, report.Short},
		{"blocked", []run.Ladder{ladder(0, 5, 0.1, 0.4, 0.96), ladder(1, 5, 0.1, 0.4, 0.99, 0.4, 0.4)},
			[]string{"Exchanges between β = 0.25 and 0.5 fail 99.0 % of the time (chain 1)", "longer --warmup"}, report.Sound},
		{"forbidden", []run.Ladder{forbidden}, []string{"Of the random recipes (β = 0), 94.0 % score 0", "a floor"}, report.Sound},
		{"forbidden and blocked", []run.Ladder{both}, []string{"Exchanges between β = 0 and 0.5 fail 100.0 % of the time (chain 0)", "longer --warmup"}, report.Sound},
		{"apart", []run.Ladder{ladder(0, 5, 0.1, 0.4), off}, []string{"The chains disagree on the mean score of random recipes (log Z, from 1.00 to 2.00)", "ten times the --warmup"}, report.Unsound},
		{"near", []run.Ladder{ladder(0, 5, 0.1, 0.4), near}, nil, report.Sound},
		{"legs near", []run.Ladder{learnt(2.9)}, nil, report.Sound},
		{"legs apart", []run.Ladder{learnt(3.1)}, []string{"Chain 0 has two estimates of the mean score of random recipes (log Z) that disagree: 1.00 from random recipes, 3.10 from"}, report.Unsound},
		{"blind", []run.Ladder{ladder(0, 5, 0.1, 0.4), ladder(1, 5, unknown, 0.4)}, []string{"The standard error of log Z of chain 1 is unknown after 1,000 scans", "Take more --draws"}, report.Sound},
	} {
		t.Run(c.name, func(t *testing.T) {
			verdict, grade := lowerGradeByLadders("It is worth much.", report.Sound, c.ladders)
			if grade != c.grade || !strings.HasSuffix(verdict, "It is worth much.") || (grade == report.Sound) != (verdict == "It is worth much.") {
				t.Errorf("the verdict is %q, %s, want %s", verdict, grade, c.grade)
			}
			if _, grade := lowerGradeByLadders("", report.Unsound, c.ladders); grade != report.Unsound {
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
