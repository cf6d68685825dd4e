package dataset

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"kir/internal/measure"
)

// columnsOf returns columns of numbers about which nothing else is known.
func columnsOf(values ...[]float64) (all []amountColumn) {
	for i, v := range values {
		all = append(all, amountColumn{field: i, values: v, cells: v, evidence: plainNumbers})
	}
	return all
}

// The amounts are chosen among other numbers by their sums, by a column that is their sum, and by their units.
func TestChooseAmounts(t *testing.T) {
	t.Parallel()
	a, b, c := []float64{50.2, 41, 30.1, 25, 60, 45}, []float64{30, 39.1, 40, 55.2, 20, 35.1}, []float64{20.1, 20, 30, 20, 20.2, 20}
	odd, level := []float64{7, 3, 9, 1, 5, 8}, []float64{180, 200, 180, 220, 200, 180}
	sum := make([]float64, len(a))
	for r := range sum {
		sum[r] = a[r] + b[r] + c[r]
	}
	free, other := []float64{10, 12, 9, 11, 15, 8}, []float64{3, 2, 5, 4, 1, 6}
	total := make([]float64, len(a))
	for r := range total {
		total[r] = free[r] + other[r] + odd[r]
	}
	tons := scaled(total, 1e6)
	percent := columnsOf(free, other, odd)
	for i := range percent {
		percent[i].kind = measure.Mass
	}
	percent[2].kind = measure.Percent
	for _, test := range []struct {
		name    string
		columns []amountColumn
		want    []bool
	}{
		{"nothing is known", columnsOf(free, other, odd), []bool{true, true, true}},
		{"rounded sums are equal without the others", columnsOf(odd, a, b, c, level), []bool{false, true, true, true, false}},
		{"a column is the sum", columnsOf(free, other, odd, total, level), []bool{true, true, true, false, false}},
		{"a column is the sum in another unit", []amountColumn{columnsOf(free)[0], columnsOf(other)[0], columnsOf(odd)[0], {field: 3, values: tons, cells: total, kind: measure.Mass, evidence: plainNumbers + amountUnit}}, []bool{true, true, true, false}},
		{"two parts of many complement each other", columnsOf([]float64{60, 40, 50, 70, 80, 30}, []float64{40, 60, 50, 30, 20, 70}, free, other, odd, []float64{1, 2, 3, 2, 1, 2}, []float64{2, 2, 3, 2, 1, 2}, []float64{1, 1, 3, 2, 1, 2}, []float64{1, 2, 1, 2, 1, 2}, []float64{1, 2, 2, 2, 1, 2}), slices.Repeat([]bool{true}, 10)},
		{"one is in another unit", percent, []bool{true, true, false}},
	} {
		if got := chooseAmounts(test.columns); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// In 300 random tables whose recipes add up to 100, rounded to a tenth, among up to three columns of other numbers, the
// amounts are found. Other numbers may add up to nearly the same by chance; with ten rows they never do here.
func TestChooseAmountsAtRandom(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(45, 1))
	for range 300 {
		const rows = 10
		parts, before, behind := 3+r.IntN(6), r.IntN(2), r.IntN(3)
		values := make([][]float64, before+parts+behind)
		for i := range values {
			values[i] = make([]float64, rows)
		}
		for row := range rows {
			whole := 0.0
			for i := range parts {
				values[before+i][row] = 1 + 9*r.Float64()
				whole += values[before+i][row]
			}
			for i := range parts {
				v := &values[before+i][row]
				*v = math.Round(1000**v/whole) / 10
			}
			for i := range before {
				values[i][row] = math.Round(100 * r.Float64())
			}
			for i := range behind {
				values[before+parts+i][row] = math.Round(100 * r.Float64())
			}
		}
		want := make([]bool, len(values))
		for i := range parts {
			want[before+i] = true
		}
		if got := chooseAmounts(columnsOf(values...)); !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", values, got, want)
		}
	}
}

// A mean is recognised by the numbers beside it, also where some are missing.
func TestFindMeans(t *testing.T) {
	t.Parallel()
	a, b, c := []float64{7, 6, 8, 5, 9, 4}, []float64{6.5, 7, 8, math.NaN(), 7, 5}, []float64{8, 5, 7, 6, 8, 6}
	mean := []float64{7.2, 6, 7.7, 5.5, 8, 5}
	means, repeats := findMeans(columnsOf(a, b, c, mean, []float64{1, 5, 2, 8, 3, 9}))
	if len(means) != 1 || !means[3] || len(repeats) != 3 || !repeats[0] || !repeats[1] || !repeats[2] {
		t.Errorf("the means are %v, of %v", means, repeats)
	}
}
