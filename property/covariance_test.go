package property_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kir/internal/testonly/golden"
	"kir/property"
)

func TestCheckCovariance(t *testing.T) {
	kept := golden.Open(t)
	_, good := factorModel(rand.New(rand.NewPCG(1, 5)), 20, 2)
	if err := property.CheckCovariance(good); err != nil {
		t.Fatal(err)
	}
	// Of fewer factors than assets, and rounded to six digits.
	singular := make([][]float64, 20)
	for i := range singular {
		for j := range singular {
			singular[i] = append(singular[i], math.Round(1e6*math.Sin(float64(i+1))*math.Sin(float64(j+1)))/1e6)
		}
	}
	if err := property.CheckCovariance(singular); err != nil {
		t.Error(err)
	}
	if err := property.CheckCovariance([][]float64{{0, 0}, {0, 0}}); err != nil {
		t.Error(err)
	}
	if err := property.CheckCovariance([][]float64{{1e300, 1e150}, {1e150, 1e300}}); err != nil {
		t.Error(err)
	}
	for k, c := range []struct {
		row, column int
		says        string
		spoil       func(c [][]float64)
	}{
		{3, 0, "not square", func(c [][]float64) { c[3] = c[3][:19] }},
		{3, 4, "finite", func(c [][]float64) { c[3][4] = math.NaN() }},
		{5, 5, "negative", func(c [][]float64) { c[5][5] = -1 }},
		{7, 2, "not symmetric", func(c [][]float64) { c[2][7] += 1e-6 }},
		{7, 2, "allow", func(c [][]float64) { c[2][7], c[7][2] = 5, 5 }},
		{7, 2, "allow", func(c [][]float64) { c[7][7] = 0 }},
		{-1, -1, "eigenvalue", func(c [][]float64) {
			for _, p := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
				v := -0.9 * math.Sqrt(c[p[0]][p[0]]*c[p[1]][p[1]])
				c[p[0]][p[1]], c[p[1]][p[0]] = v, v
			}
		}},
	} {
		bad := make([][]float64, len(good))
		for i := range good {
			bad[i] = slices.Clone(good[i])
		}
		c.spoil(bad)
		err := property.CheckCovariance(bad)
		kept.CheckText(t, fmt.Sprintf("%d: %s", k+1, c.says), fmt.Sprint(err))
		var where *property.CovarianceError
		if !errors.As(err, &where) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.says, err)
			continue
		}
		// Setting a variance to 0 spoils all of its row; the first is told.
		if where.Row != c.row || where.Column != c.column && c.says != "allow" {
			t.Errorf("%s: row %d, column %d", c.says, where.Row, where.Column)
		}
	}
}

func BenchmarkCheckCovariance(b *testing.B) {
	_, c := factorModel(rand.New(rand.NewPCG(1, 30)), 2000, 5)
	for b.Loop() {
		if err := property.CheckCovariance(c); err != nil {
			b.Fatal(err)
		}
	}
}

// Assets that all have the same negative correlation c have a smallest eigenvalue of
// 1 − (n−1)·c, which the message tells.
func TestSmallestEigenvalue(t *testing.T) {
	for _, c := range []struct {
		n     int
		apart float64
		want  string
	}{{3, 0.6, "is -0.2,"}, {3, 0.501, "is -0.002,"}, {10, 0.2, "is -0.8,"}, {40, 0.9, "is -34.1,"}, {400, 0.3, "is -119,"}} {
		m := make([][]float64, c.n)
		for i := range m {
			m[i] = slices.Repeat([]float64{-c.apart}, c.n)
			m[i][i] = 1
		}
		if err := property.CheckCovariance(m); err == nil || !strings.Contains(err.Error(), "its smallest eigenvalue "+c.want) {
			t.Errorf("%d of −%v: %v, want %q", c.n, c.apart, err, c.want)
		}
	}
}
