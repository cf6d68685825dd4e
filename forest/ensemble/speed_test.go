package ensemble_test

import (
	"bufio"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"kir/forest/ensemble"
	"kir/forest/xgboost"
)

func BenchmarkBig(b *testing.B) {
	f, err := os.Open("/tmp/mk/big.json")
	if err != nil {
		b.Skip(err)
	}
	m, err := xgboost.Read(f)
	if err != nil {
		b.Fatal(err)
	}
	const total = 1000
	var sources []ensemble.Source
	for i := range m.Inputs {
		sources = append(sources, ensemble.Source{Ingredients: []int32{int32(i)}, Over: total})
	}
	s, err := ensemble.Bind(m, len(m.Inputs), total, sources)
	if err != nil {
		b.Fatal(err)
	}
	var xs [][]int32
	g, _ := os.Open("/tmp/mk/big_x.csv")
	for sc := bufio.NewScanner(g); sc.Scan(); {
		var row []int32
		sum := int32(0)
		for _, p := range strings.Split(sc.Text(), ",") {
			v, _ := strconv.Atoi(p)
			row = append(row, int32(v))
			sum += int32(v)
		}
		for k := range row {
			if row[k] > 10 {
				row[k] += total - sum
				break
			}
		}
		xs = append(xs, row)
	}
	b.Run("point", func(b *testing.B) {
		for k := 0; b.Loop(); k++ {
			s.Sums(xs[k%len(xs)])
		}
	})
	var cs []*ensemble.Scorer
	type pair struct{ i, j int }
	var pairs []pair
	r := rand.New(rand.NewPCG(1, 1))
	for _, x := range xs[:100] {
		var used []int32
		for i, v := range x {
			if v > 0 {
				used = append(used, int32(i))
			}
		}
		c := s.NewScorer()
		c.Reset(x, used)
		cs = append(cs, c)
		i := int(used[r.IntN(len(used))])
		j := r.IntN(len(x))
		for j == i {
			j = r.IntN(len(x))
		}
		pairs = append(pairs, pair{i, j})
	}
	b.Run("line", func(b *testing.B) {
		pieces := 0
		n := 0
		for k := 0; b.Loop(); k++ {
			q := k % len(cs)
			starts, _ := cs[q].Line(pairs[q].i, pairs[q].j)
			pieces += len(starts)
			n++
		}
		b.ReportMetric(float64(pieces)/float64(n), "pieces")
	})
	b.Run("move", func(b *testing.B) {
		c := cs[0]
		x := xs[0]
		y := append([]int32(nil), x...)
		k := 0
		for b.Loop() {
			p := pairs[k%len(pairs)]
			k++
			sum := y[p.i] + y[p.j]
			y[p.i] = r.Int32N(sum + 1)
			y[p.j] = sum - y[p.i]
			c.Set(p.i, y[p.i], p.j, y[p.j])
		}
	})
}

func TestRatio(t *testing.T) {
	if os.Getenv("RATIO") == "" {
		t.Skip()
	}
	f, _ := os.Open("/tmp/mk/big.json")
	m, _ := xgboost.Read(f)
	const total = 1000
	var sources []ensemble.Source
	for i := range m.Inputs {
		sources = append(sources, ensemble.Source{Ingredients: []int32{int32(i)}, Over: total})
	}
	s, _ := ensemble.Bind(m, len(m.Inputs), total, sources)
	r := rand.New(rand.NewPCG(1, 1))
	var cs []*ensemble.Scorer
	type pair struct{ i, j int }
	var pairs []pair
	var xs [][]int32
	for range 100 {
		x := make([]int32, 50)
		n := 3 + r.IntN(6)
		of := r.Perm(50)[:n]
		rest := int32(total)
		for _, i := range of[1:] {
			x[i] = 1 + r.Int32N(rest-int32(n))/2
			rest -= x[i]
		}
		x[of[0]] = rest
		var used []int32
		for _, i := range of {
			used = append(used, int32(i))
		}
		c := s.NewScorer()
		c.Reset(x, used)
		cs = append(cs, c)
		xs = append(xs, x)
		i := of[r.IntN(n)]
		j := r.IntN(50)
		for j == i {
			j = r.IntN(50)
		}
		pairs = append(pairs, pair{i, j})
	}
	c := cs[0]
	const lines = 20
	used := make([]int32, 0, 50)
	var point, line, move time.Duration
	pieces := 0
	for q := range xs {
		used = used[:0]
		for i, v := range xs[q] {
			if v > 0 {
				used = append(used, int32(i))
			}
		}
		c.Reset(xs[q], used)
		var ps [lines]pair
		for k := range ps {
			ps[k].i = int(used[r.IntN(len(used))])
			ps[k].j = (ps[k].i + 1 + r.IntN(49)) % 50
		}
		bestP, bestL, bestM := time.Hour, time.Hour, time.Hour
		for range 30 {
			t0 := time.Now()
			for k := range lines {
				s.Sums(xs[(q+k)%len(xs)])
			}
			bestP = min(bestP, time.Since(t0))
			t0 = time.Now()
			n := 0
			for _, p := range ps {
				starts, _ := c.Line(p.i, p.j)
				n += len(starts)
			}
			bestL = min(bestL, time.Since(t0))
			t0 = time.Now()
			for _, p := range ps {
				k := xs[q][p.i]
				sum := k + xs[q][p.j]
				to := r.Int32N(sum + 1)
				c.Set(p.i, to, p.j, sum-to)
				c.Set(p.i, k, p.j, sum-k)
			}
			bestM = min(bestM, time.Since(t0)/2)
			pieces = n
		}
		point, line, move = point+bestP, line+bestL, move+bestM
	}
	t.Logf("point %v line %v ratio %.2f move %v pieces %v", point/100/lines, line/100/lines, float64(line)/float64(point), move/100/lines, float64(pieces)/lines)
}
