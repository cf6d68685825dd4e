package portable

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// holdsEigen checks that values and vectors are those of a matrix, in order.
func holdsEigen(t *testing.T, name string, m [][]float64, values []float64, vectors [][]float64) {
	t.Helper()
	size := 0.0
	for _, row := range m {
		size += Dot(row, row)
	}
	near := 1e-14 * (1 + float64(len(m)))
	if len(values) != len(m) || len(vectors) != len(m) || !slices.IsSorted(values) {
		t.Fatalf("%s: the values %v with %d vectors", name, values, len(vectors))
	}
	for k, v := range vectors {
		for i, row := range m {
			if off := Dot(row, v) - values[k]*v[i]; !(math.Abs(off) <= near*math.Sqrt(size)) {
				t.Errorf("%s: row %d times vector %d is off by %g", name, i, k, off)
			}
		}
		for j, w := range vectors[:k+1] {
			want := 0.0
			if j == k {
				want = 1
			}
			if got := Dot(v, w); !(math.Abs(got-want) <= near) {
				t.Errorf("%s: vectors %d and %d have the product %g", name, k, j, got)
			}
		}
	}
}

func square(n int, at func(i, j int) float64) [][]float64 {
	m := make([][]float64, n)
	for i := range m {
		for j := range n {
			m[i] = append(m[i], at(i, j))
		}
	}
	return m
}

func TestEigen(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	cases := map[string][][]float64{
		"none":       {},
		"one":        {{-3}},
		"zeros":      square(4, func(int, int) float64 { return 0 }),
		"ones":       square(7, func(int, int) float64 { return 1 }), // 0 six times, and 7
		"a diagonal": square(5, func(i, j int) float64 { return float64(map[bool]int{true: 5 - i, false: 0}[i == j]) }),
		"far apart":  {{1, 1e-9, 0}, {1e-9, 1e12, 3}, {0, 3, 1e-12}},
		"tiny":       {{1e-150, 2e-150}, {2e-150, 1e-150}},
		"huge":       {{1e150, 2e150}, {2e150, -1e150}},
	}
	for _, n := range []int{2, 3, 10, 60, 120} {
		half := square(n, func(i, j int) float64 { return r.Float64() - 0.5 })
		cases["random "+string(rune('a'+n%26))] = square(n, func(i, j int) float64 { return half[i][j] + half[j][i] })
		cases["of few "+string(rune('a'+n%26))] = square(n, func(i, j int) float64 { return half[i][0]*half[j][0] + half[i][1]*half[j][1] })
	}
	for name, m := range cases {
		before := square(len(m), func(i, j int) float64 { return m[i][j] })
		values, vectors := Eigen(m)
		holdsEigen(t, name, m, values, vectors)
		if !slices.EqualFunc(m, before, slices.Equal) {
			t.Errorf("%s: the matrix is another afterwards", name)
		}
	}
	// Second differences have eigenvalues in closed form.
	const n = 50
	values, _ := Eigen(square(n, func(i, j int) float64 {
		switch i - j {
		case 0:
			return 2
		case 1, -1:
			return -1
		}
		return 0
	}))
	for k, v := range values {
		if want := 2 - 2*math.Cos(float64(k+1)*math.Pi/(n+1)); math.Abs(v-want) > 1e-14*n {
			t.Errorf("eigenvalue %d is %g, want %g", k, v, want)
		}
	}
}
