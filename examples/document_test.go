package examples_test

import (
	"context"
	"math"
	"strconv"
	"testing"

	"kir/internal/compile"
	"kir/internal/diagnose"
	"kir/internal/testonly/stattest"
	"kir/mcmc"
)

// topicPosterior is the law of the mixtures by enumeration, from the files.
func topicPosterior(t *testing.T, total int) *stattest.Enumeration {
	t.Helper()
	number := func(text string) float64 {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	header, rows := readCSV(t, "document/topics.csv")
	topics := make([]map[string]float64, len(rows))
	for k, row := range rows {
		topics[k] = make(map[string]float64)
		for c, text := range row[1:] {
			topics[k][header[c+1]] = number(text)
		}
	}
	_, words := readCSV(t, "document/words.csv")
	law, err := stattest.Law{
		Ingredients: len(topics), Total: total, Size: func(n int) float64 { return math.Exp(-float64(n)) },
		Objectives: []stattest.Objective{{Weight: 1, Score: func(x []int) float64 {
			likelihood := 1.0
			for _, row := range words {
				p := 0.0
				for k := range x {
					p += float64(x[k]) / float64(total) * topics[k][row[0]]
				}
				likelihood *= math.Pow(100*p, number(row[1])) // any constant will do
			}
			return likelihood
		}}},
	}.Enumerate()
	if err != nil {
		t.Fatal(err)
	}
	return law
}

// TestDocument runs the example and compares the posterior means of all topics'
// shares, of whether each is there, and of their number, with enumeration.
func TestDocument(t *testing.T) {
	p, err := compile.Load(context.Background(), "document/problem.yaml", compile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	topics := len(p.Ingredients)
	law := topicPosterior(t, p.Total)

	// What is compared, each a function of the mixture.
	figures := 2*topics + 1
	of := func(k int, x []int) float64 {
		switch {
		case k < topics:
			return float64(x[k]) / float64(p.Total)
		case k < 2*topics:
			return float64(min(x[k-topics], 1))
		}
		n := 0.0
		for _, a := range x {
			n += float64(min(a, 1))
		}
		return n
	}
	s := p.Sampler
	s.Warmup, s.Draws, s.Thin = 2000, 20_000, 5
	series := make([][][]float64, figures)
	for k := range series {
		series[k] = make([][]float64, s.Chains)
	}
	sampler, err := s.Sampler(p.Target)
	if err != nil {
		t.Fatal(err)
	}
	_, err = mcmc.Stream(t.Context(), sampler, s, 0, func(chain, _ int, x *mcmc.State) error {
		amounts := make([]int, topics)
		for i, a := range x.Composition.Amounts() {
			amounts[i] = int(a)
		}
		for k := range series {
			series[k][chain] = append(series[k][chain], of(k, amounts))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// 4 standard errors: with 13 figures the rate of false alarms is below 0.1 %.
	for k := range series {
		want := 0.0
		for state, x := range law.States {
			want += law.Pi[state] * of(k, x)
		}
		of := diagnose.Summarize(series[k])
		mean, mcse := of.Mean, of.MCSEMean
		if err := of.ReasonFor("MCSEMean"); err != nil {
			t.Fatal(err)
		}
		name := "number of topics"
		switch {
		case k < topics:
			name = "share of " + p.Ingredients[k]
		case k < 2*topics:
			name = "presence of " + p.Ingredients[k-topics]
		}
		t.Logf("%-22s %.4f ± %.4f, by enumeration %.4f", name, mean, mcse, want)
		if math.Abs(float64(mean)-want) > float64(4*mcse) {
			t.Errorf("%s: the draws' mean is %v ± %v, by enumeration it is %v", name, mean, mcse, want)
		}
		if !(of.RHat <= 1.01) {
			t.Errorf("%s: R-hat is %v, %v", name, of.RHat, of.ReasonFor("RHat"))
		}
	}
}
