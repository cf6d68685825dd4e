package assetstats

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-12*max(1, math.Abs(want))) {
		t.Errorf("%s is %.15g, want %.15g", what, got, want)
	}
}

// known is a history whose moments testdata/ledoit_wolf.py works out by itself, in fractions
// and decimals of 50 digits.
func known() [][]float64 {
	return [][]float64{
		{0.02, 0.021, -0.01}, {-0.01, -0.008, 0.005}, {0.03, 0.026, 0.02}, {-0.025, -0.029, 0.001},
		{0.005, 0.009, -0.007}, {0.012, 0.010, 0.015}, {-0.004, -0.001, -0.022}, {0.017, 0.015, 0.008},
	}
}

func TestKind(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	price := make([][]float64, 200)
	gain, percent, positive := make([][]float64, 200), make([][]float64, 200), make([][]float64, 200)
	at := []float64{100, 0.03}
	for k := range price {
		a, b := r.NormFloat64(), r.NormFloat64()
		at = []float64{at[0] * (1 + 0.1*a*0.3), at[1] * (1 + 0.02*b)}
		price[k] = at
		gain[k], percent[k] = []float64{0.01 * a, 0.02 * b}, []float64{a, 2 * b}
		positive[k] = []float64{0.01 * math.Abs(a), 0.02 * math.Abs(b)}
	}
	for _, c := range []struct {
		what   string
		values [][]float64
		want   Kind
	}{{"prices", price, Prices}, {"returns", gain, Returns}, {"percent", percent, Percent}, {"gains alone", positive, Returns}} {
		if got := KindOf(c.values); got != c.want {
			t.Errorf("%s are taken for %v", c.what, got)
		}
	}
}

func TestOf(t *testing.T) {
	prices := [][]float64{{100, 10}, {110, 9}, {99, 9.9}}
	got := ToReturns(prices, Prices)
	for k, want := range [][]float64{{0.1, -0.1}, {-0.1, 0.1}} {
		near(t, "a return", got[k][0], want[0])
		near(t, "a return", got[k][1], want[1])
	}
	if got := ToReturns([][]float64{{5, -3}}, Percent); got[0][0] != 0.05 || got[0][1] != -0.03 {
		t.Errorf("percent become %v", got)
	}
}

// TestEstimate compares with what testdata/ledoit_wolf.py prints.
func TestEstimate(t *testing.T) {
	m, err := Estimate(known(), 12)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "the correlation", m.Correlation, 0.5318731026404995)
	near(t, "the intensity", m.Intensity, 0.5404510182720724)
	mean := []float64{0.0675, 0.0645, 0.015}
	rows := [][]float64{
		{0.0038500714285714284, 0.002817831079482435, 0.001355837342093167},
		{0.002817831079482435, 0.0037677857142857144, 0.0011721709165987068},
		{0.001355837342093167, 0.0011721709165987068, 0.0022894285714285716},
	}
	for i := range mean {
		near(t, "a mean", m.Mean[i], mean[i])
		for j := range mean {
			near(t, "a covariance", m.Covariance[i][j], rows[i][j])
		}
	}
	for _, periods := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := Estimate(known(), periods); err == nil {
			t.Errorf("%v periods a year are taken", periods)
		}
	}
	if _, err := Estimate(known()[:1], 12); err == nil {
		t.Error("one return is taken")
	}
}

// TestFlat has an asset that never moves, and two assets, whose correlation the target has as
// it is, so that there is nothing to shrink.
func TestFlat(t *testing.T) {
	var h [][]float64
	for _, row := range known() {
		h = append(h, []float64{row[0], 0.001, row[1]})
	}
	m, err := Estimate(h, 12)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if m.Covariance[1][i] != 0 || m.Covariance[i][1] != 0 {
			t.Errorf("what never moves has the covariance %v, %v with %d", m.Covariance[1][i], m.Covariance[i][1], i)
		}
	}
	near(t, "the mean", m.Mean[1], 0.012)
	if m.Intensity < 0 || m.Intensity > 1 {
		t.Errorf("the intensity is %v", m.Intensity)
	}
}

func TestDates(t *testing.T) {
	day := func(y, m, d int) time.Time { return time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC) }
	for _, c := range []struct {
		text    []string
		first   time.Time
		periods float64
		no      bool
	}{
		{text: []string{"2024-01-02", "2024-01-03", "2024-01-04", "2024-01-05", "2024-01-08"}, first: day(2024, 1, 2), periods: 252},
		{text: []string{"2024-01-05", "2024-01-06", "2024-01-07", "2024-01-08"}, first: day(2024, 1, 5), periods: 365},
		{text: []string{"05/01/2024", "12/01/2024", "19/01/2024"}, first: day(2024, 1, 5), periods: 52},
		{text: []string{"05/02/2024", "06/02/2024", "07/02/2024", "13/02/2024"}, first: day(2024, 2, 5), periods: 252},
		{text: []string{"1/31/2024", "2/29/2024", "3/31/2024"}, first: day(2024, 1, 31), periods: 12},
		{text: []string{"31.01.2024", "29.02.2024", "31.03.2024"}, first: day(2024, 1, 31), periods: 12},
		{text: []string{"2024-01", "2024-02", "2024-03"}, first: day(2024, 1, 1), periods: 12},
		{text: []string{"202311", "202312", "202401"}, first: day(2023, 11, 1), periods: 12},
		{text: []string{"20240105", "20240112", "20240119"}, first: day(2024, 1, 5), periods: 52},
		{text: []string{"Jan 2024", "Feb 2024", "Mar 2024"}, first: day(2024, 1, 1), periods: 12},
		{text: []string{"2023Q3", "2023Q4", "2024Q1"}, first: day(2023, 7, 1), periods: 4},
		{text: []string{"2021", "2022", "2023"}, first: day(2021, 1, 1), periods: 1},
		{text: []string{"45292", "45323", "45352"}, first: day(2024, 1, 1), periods: 12},
		{text: []string{"2024-01-02 00:00:00", "2024-01-03T16:00:00"}, first: day(2024, 1, 2), periods: 252},
		{text: []string{"1", "2", "3"}, no: true},
		{text: []string{"2024-01-02", "soon"}, no: true},
	} {
		dates, ok := ParseDates(c.text)
		if ok == c.no {
			t.Errorf("%v: dates: %v", c.text, ok)
			continue
		} else if !ok {
			continue
		}
		if !dates[0].Equal(c.first) {
			t.Errorf("%v begin on %v, not %v", c.text, dates[0], c.first)
		}
		if r, ok := FrequencyOf(dates); !ok || r.PeriodsPerYear != c.periods {
			t.Errorf("%v have %v periods a year, want %v", c.text, r, c.periods)
		}
	}
}
