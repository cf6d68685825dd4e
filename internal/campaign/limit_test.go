package campaign

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kir/internal/compile"
	"kir/internal/testonly/testmode"
)

// limitsTable has two numbers y and v and a class stable, with some noise.
func limitsTable(seed uint64, rows int) string {
	table := trialsTable(rows, func(x []int, k int) string {
		r := rand.New(rand.NewPCG(seed, uint64(k)))
		stable := "no"
		if x[1]+x[2]+r.IntN(5) > 9 {
			stable = "yes"
		}
		return fmt.Sprintf("%.4f,%.3f,%s", float64(3*x[0]-x[3])+r.Float64(), float64(x[0]+2*x[1])+r.NormFloat64(), stable)
	})
	return strings.Replace(table, "amount,y\n", "amount,y,v,stable\n", 1)
}

// TestLimitsAreKept: whatever is limited, in random campaigns, the value that a batch prints
// of it keeps the limit, or the batch says that none was found that does. What is limited is
// printed by the model that checks it.
func TestLimitsAreKept(t *testing.T) {
	kept, outside := 0, 0
	for seed := range testmode.Pick(uint64(70), 7) { // each kind of limit once
		r := rand.New(rand.NewPCG(seed, 10))
		way := []string{"maximize: true", "minimize: true", "between: [10, 30]"}
		text := fmt.Sprintf("labels: [y, v, stable]\nproperties:\n  y: {learn: {label: y, %s}}\n  v: {learn: {label: v, %s}, weight: %d}\n  stable: {forest: {label: stable, want: \"yes\"}, weight: %d}\n",
			way[r.IntN(2)], way[r.IntN(3)], r.IntN(2), r.IntN(2))
		type bound struct {
			label     string
			low, high float64
			sure      bool
		}
		low, width := 8+float64(r.IntN(16)), 3+float64(r.IntN(8))
		all := []struct {
			text string
			of   bound
		}{
			{fmt.Sprintf("{property: v, min: %g}", low), bound{"v", low, 1e9, false}},
			{fmt.Sprintf("{property: v, max: %g}", low), bound{"v", -1e9, low, false}},
			{fmt.Sprintf("{property: v, min: %g, max: %g}", low, low+width), bound{"v", low, low + width, false}},
			{fmt.Sprintf("{property: v, min: %g, sure: \"70%%\"}", low), bound{"v", 0.7, 1, true}},
			{`{property: stable, min: "80%"}`, bound{"stable", 0.8, 1, false}},
			{`{property: stable, max: 0.4}`, bound{"stable", 0, 0.4, false}},
			{`{property: stable, min: 0.4, max: "70%"}`, bound{"stable", 0.4, 0.7, false}},
		}
		chosen := all[seed%uint64(len(all))]
		limits := []bound{chosen.of}
		text += "search: {effort: 0.1}\nconstraints:\n  - limit: " + chosen.text + "\n"
		if more := all[r.IntN(len(all))]; more.of.label != chosen.of.label {
			limits = append(limits, more.of)
			text += "  - limit: " + more.text + "\n"
		}
		if r.IntN(3) == 0 {
			text += "trade: [y, v]\n"
			text = strings.Replace(strings.Replace(text, "between: [10, 30]", "maximize: true", 1), "}, weight: 0}\n  stable", "}}\n  stable", 1)
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			path := fiveBench(t, text, limitsTable(seed, 16+r.IntN(30)))
			b := choose(t, path, Settings{BatchSize: 6, Seed: seed, MaxNewIngredients: -1, Workers: 1})
			for k := range b.Entries {
				e := &b.Entries[k]
				for i, of := range limits {
					if len(e.Limits) != len(limits) {
						t.Fatalf("%s has %+v of %d limits", e.ID, e.Limits, len(limits))
					}
					shown, value := e.Limits[i], e.Limits[i].Value
					if !of.sure && value != e.Predicted[of.label].Value {
						t.Errorf("%s: %s is %v, and printed %v", e.ID, shown.Limit, value, e.Predicted[of.label].Value)
					}
					within := of.low <= value && value <= of.high
					if within != shown.Within {
						t.Errorf("%s: %s is %v, within it: %v", e.ID, shown.Limit, value, shown.Within)
					}
					if kept++; !within {
						outside++
						if !strings.Contains(strings.Join(b.Notes, " "), "No recipe was found that is predicted to keep") {
							t.Errorf("%s\n%s: %s is %v, and no note says so: %q", text, e.ID, shown.Limit, value, b.Notes)
						}
					}
				}
			}
		})
	}
	t.Logf("%d of %d limits were kept", kept-outside, kept)
	if outside*4 > kept {
		t.Errorf("only %d of %d limits were kept", kept-outside, kept)
	}
}

// TestNoneWithinLimits: where nothing is predicted to keep a limit there is a batch all the
// same, which says so; a limit of what has no model yet is named, too.
func TestNoneWithinLimits(t *testing.T) {
	text := "labels: [y, v, stable]\nproperties:\n  y: {learn: {label: y, maximize: true}}\n  v: {learn: {label: v, maximize: true}}\nsearch: {effort: 0.1}\nconstraints: [{limit: {property: v, min: 500}}]\n"
	for _, more := range []string{"", "trade: [y, v]\n"} {
		path := fiveBench(t, text+more, limitsTable(2, 20))
		s := Settings{BatchSize: 3, Seed: 1, MaxNewIngredients: -1, Workers: 1}
		b := choose(t, path, s)
		st, err := open(t, path).ComputeStanding(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		const want = "No recipe was found that is predicted to keep the limit of v (at least 500). The recipes of this batch may break it;"
		if len(b.Entries) != 3 || b.RemainingGain.Advice != GoOn || b.Best != nil || !strings.Contains(strings.Join(b.Notes, " "), want) || !strings.Contains(strings.Join(st.Notes, " "), want) {
			t.Errorf("%d recipes, advice %s, best %+v, notes %q and %q", len(b.Entries), b.RemainingGain.Advice, b.Best, b.Notes, st.Notes)
		}
		for _, e := range b.Entries {
			if len(e.Limits) != 1 || e.Limits[0].Within || e.Limits[0].Value != e.Predicted["v"].Value {
				t.Errorf("%+v beside %+v", e.Limits, e.Predicted)
			}
		}
	}
	b := choose(t, fiveBench(t, text, limitsTable(2, 3)), Settings{BatchSize: 2, Seed: 1, MaxNewIngredients: -1, Workers: 1})
	if want := "The limit of v (at least 500) is not checked: there is no model of v yet."; !slices.Contains(b.Notes, want) {
		t.Errorf("notes %q without %q", b.Notes, want)
	}
}

// TestOneModelOfALabel: properties of one label share its model, so that what is printed of
// the label does not depend on which of them was read last, and results are compared once.
func TestOneModelOfALabel(t *testing.T) {
	table := limitsTable(1, 30)
	alone := choose(t, fiveBench(t, "labels: [y, v, stable]\nproperties:\n  v: {learn: {label: v, minimize: true}}\n", table), Settings{BatchSize: 2, Seed: 1, MaxNewIngredients: -1, Workers: 1})
	path := fiveBench(t, "labels: [y, v, stable]\nproperties:\n  v: {learn: {label: v, minimize: true}}\n  w: {learn: {label: v, at_least: 5}}\nconstraints: [{limit: {property: v, max: 20}}]\n", table)
	c := open(t, path)
	ch, err := newBatchOptimizer(t.Context(), c, Settings{BatchSize: 2, Seed: 1, MaxNewIngredients: -1, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(ch.objectives) != 3 || ch.objectives[1].model != ch.objectives[0].model || ch.objectives[2].model != ch.objectives[0].model {
		t.Errorf("%d objectives with models of their own", len(ch.objectives))
	}
	for k := range alone.Entries {
		want := alone.Entries[k].Predicted["v"]
		for _, o := range ch.objectives {
			if got := o.predict(alone.Entries[k].recipe); got != want {
				t.Errorf("%s: %+v, alone %+v", o.name, got, want)
			}
		}
	}
}

// TestWeakModelIsNamed: where one of several models predicts hardly anything, the advice
// names it and no other, also one that only carries a limit.
func TestWeakModelIsNamed(t *testing.T) {
	table := strings.Replace(trialsTable(40, func(x []int, k int) string {
		return fmt.Sprintf("%d,%d,%s", 5*x[0]-x[3], x[1]-x[2], []string{"yes", "no"}[rand.New(rand.NewPCG(3, uint64(k))).IntN(2)])
	}), "amount,y\n", "amount,y,v,stable\n", 1)
	for _, more := range []string{"", "trade: [y, v]\n"} {
		path := fiveBench(t, "labels: [y, v, stable]\nproperties:\n  y: {learn: {label: y, maximize: true}}\n  v: {learn: {label: v, maximize: true}}\n  stable: {learn: {label: stable, want: \"yes\"}, weight: 0}\nsearch: {effort: 0.1}\nconstraints: [{limit: {property: stable, min: \"60%\"}}]\n"+more, table)
		b := choose(t, path, Settings{BatchSize: 2, Seed: 1, MaxNewIngredients: -1, Workers: 1})
		weak := ""
		for _, m := range b.Models {
			if m.R2 == nil || *m.R2 < weakModelR2 {
				weak += m.Label
			}
		}
		if weak != "stable" {
			t.Fatalf("weak: %q", weak)
		}
		if !strings.Contains(b.RemainingGain.Text, "The model of stable can predict little yet (held-out R²") || strings.Contains(b.RemainingGain.Text, "models of") {
			t.Errorf("%s%s", more, b.RemainingGain.Text)
		}
	}
}

// TestLimitsAreRead: a campaign refuses the limits that kir sample refuses, in its words, and
// takes chances in percent.
func TestLimitsAreRead(t *testing.T) {
	for limit, want := range map[string]string{
		`{property: stable, min: "90%"}`:             "",
		`{property: v, min: 5, sure: "80%"}`:         "",
		`{property: v, min: 5, max: 3}`:              `the rule contradicts itself: min is "5" and max "3"`,
		`{property: v, min: "20%"}`:                  "write a number without a percent sign",
		`{property: stable, min: 3}`:                 "the limit bounds the chance of the class",
		`{property: stable, min: 0.5, sure: "80%"}`:  "does not predict how a measurement varies",
		`{property: v, min: 5, sure: 80}`:            "the limit bounds the probability of a measurement within",
		`{property: stable, max: "120%"}`:            "write 0 to 100 %",
		`{property: stable, min: "60%", max: "10%"}`: "the rule contradicts itself",
		`{property: v, max: much}`:                   "write a number",
	} {
		path := fiveBench(t, "labels: [y, v, stable]\nproperties:\n  v: {learn: {label: v, maximize: true}}\n  stable: {learn: {label: stable, want: \"yes\"}}\nconstraints: [{limit: "+limit+"}]\n", limitsTable(1, 8))
		c, err := Open(t.Context(), path, compile.Options{})
		if err == nil {
			err = c.Close()
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", limit, err)
		}
	}
}
