package count

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// plainTable counts a set of ingredients in the plainest way: ways[k][u] by
// big integers, one ingredient after the other, one amount after the other.
type plainTable [][]*big.Int

func newPlain(used, units int) plainTable {
	t := make(plainTable, used+1)
	for k := range t {
		t[k] = make([]*big.Int, units+1)
		for u := range t[k] {
			t[k][u] = new(big.Int)
		}
	}
	return t
}

func (t plainTable) times(ing Ingredient) plainTable {
	units := len(t[0]) - 1
	out := newPlain(len(t)-1, units)
	step := max(ing.Step, 1)
	first := ing.Min
	if first == 0 {
		first = step
	}
	last := ing.Max
	if last == 0 {
		last = units
	}
	for k := range t {
		for u, ways := range t[k] {
			if ways.Sign() == 0 {
				continue
			}
			if !ing.Required {
				out[k][u].Add(out[k][u], ways)
			}
			for a := first; a <= last && u+a <= units && k+1 < len(t) && !ing.Excluded; a += step {
				out[k+1][u+a].Add(out[k+1][u+a], ways)
			}
		}
	}
	return out
}

func (t plainTable) timesTable(s plainTable) plainTable {
	out := newPlain(len(t)-1, len(t[0])-1)
	product := new(big.Int)
	for k := range t {
		for u, a := range t[k] {
			if a.Sign() == 0 {
				continue
			}
			for l := 0; k+l < len(t); l++ {
				for v := 0; u+v < len(t[0]); v++ {
					if s[l][v].Sign() != 0 {
						out[k+l][u+v].Add(out[k+l][u+v], product.Mul(a, s[l][v]))
					}
				}
			}
		}
	}
	return out
}

func (t plainTable) limit(g Group) {
	for k := range t {
		for u := range t[k] {
			if g.Used != nil && (k < g.Used.Min || k > g.Used.Max) || g.Total != nil && (u < g.Total.Min || u > g.Total.Max) {
				t[k][u].SetInt64(0)
			}
		}
	}
}

// plainCounts returns |X_n| for n = 0..used.
func plainCounts(s Space, used int) []*big.Int {
	inside := func(a, b Group) bool { // a lies within b
		return len(a.Members) < len(b.Members) && slices.Contains(b.Members, a.Members[0])
	}
	var of func(members []int, groups []Group) plainTable
	of = func(members []int, groups []Group) plainTable {
		t := newPlain(used, s.Total)
		t[0][0].SetInt64(1)
		left := slices.Clone(members)
		for _, g := range groups {
			if slices.ContainsFunc(groups, func(h Group) bool { return inside(g, h) }) {
				continue
			}
			var inner []Group
			for _, h := range groups {
				if inside(h, g) {
					inner = append(inner, h)
				}
			}
			sub := of(g.Members, inner)
			sub.limit(g)
			t = t.timesTable(sub)
			left = slices.DeleteFunc(left, func(i int) bool { return slices.Contains(g.Members, i) })
		}
		for _, i := range left {
			t = t.times(s.Ingredients[i])
		}
		return t
	}
	all := make([]int, len(s.Ingredients))
	for i := range all {
		all[i] = i
	}
	t := of(all, s.Groups)
	counts := make([]*big.Int, used+1)
	for k := range counts {
		counts[k] = t[k][s.Total]
	}
	return counts
}

// middleSpace makes spaces whose counts take several primes, in which classes
// are large, steps and bounds are mixed, and groups disjoint or nested.
func middleSpace(r *rand.Rand) Space {
	n, m := 20+r.IntN(30), 40+r.IntN(60)
	s := Space{Total: m, Ingredients: make([]Ingredient, n)}
	kinds := make([]Ingredient, 1+r.IntN(8))
	for k := range kinds {
		kinds[k] = Ingredient{Min: r.IntN(5), Step: 1 + r.IntN(3)}
		if r.IntN(2) == 0 {
			kinds[k].Max = kinds[k].Min + 3 + r.IntN(m)
		}
	}
	for i := range s.Ingredients {
		s.Ingredients[i] = kinds[r.IntN(len(kinds))]
		s.Ingredients[i].Required = r.IntN(20) == 0
		s.Ingredients[i].Excluded = r.IntN(20) == 0 && !s.Ingredients[i].Required
	}
	order := r.Perm(n)
	for len(order) > 2 && r.IntN(5) > 0 {
		size := min(2+r.IntN(10), len(order))
		g := Group{Members: slices.Clone(order[:size])}
		if r.IntN(2) == 0 {
			g.Used = &Range{0, 1 + r.IntN(size)}
		}
		if r.IntN(2) == 0 {
			g.Total = &Range{r.IntN(4), m/4 + r.IntN(m)}
		}
		s.Groups = append(s.Groups, g)
		if r.IntN(3) > 0 {
			order = order[size:]
			continue
		}
		// The next group lies within this one.
		order = order[:size-1]
	}
	return s
}

// Counts of spaces too large to list equal those of the plainest programme, and
// the tables for draws are right to the error that is stated for them.
func TestCountsEqualPlainProgramme(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 5))
	const used = 14
	nonempty := 0
	for problem := range 60 {
		s := middleSpace(r)
		want := plainCounts(s, used)
		table, err := New(context.Background(), s, Options{MaxUsed: used})
		if err != nil {
			t.Fatal(err)
		}
		sampler, err := table.Sampler(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		can, err := reachableByTables(context.Background(), table.plan)
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= used; n++ {
			if table.Count(n).Cmp(want[n]) != 0 {
				t.Fatalf("problem %d, %s: |X_%d| = %v, not %v", problem, show(s), n, table.Count(n), want[n])
			}
			if can[n] != (want[n].Sign() > 0) {
				t.Fatalf("problem %d, %s: X_%d is told to be empty or not, wrongly; it has %v", problem, show(s), n, want[n])
			}
			if want[n].Sign() == 0 || len(sampler.rootSplits) == 0 {
				continue
			}
			nonempty++
			sum := 0.0
			for _, w := range sampler.rootSplits[n] {
				sum += w
			}
			exact, _ := new(big.Float).SetInt(want[n]).Float64()
			if off := math.Abs(sum/exact - 1); !(off <= sampler.Deviation(n)) {
				t.Errorf("problem %d, %s: the tables count |X_%d| wrongly by a relative %g, and %g is stated", problem, show(s), n, off, sampler.Deviation(n))
			}
		}
	}
	if nonempty < 200 {
		t.Errorf("the random problems are poor: %d nonempty X_n", nonempty)
	}
}

// Both ways to multiply grids modulo a prime agree, and grids of bits are
// multiplied as the definition says.
func TestMultiplicationsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	m := newModularArithmetic(largestPrimes(1)[0])
	random := func() *grid[[]uint64, factor] {
		used, units := r.IntN(12), r.IntN(200)
		largest := r.IntN(4) == 0
		g := emptyGrid[[]uint64, factor](m, used, units)
		for k := range g.rows {
			if lo := r.IntN(units + 1); r.IntN(4) > 0 {
				row := &g.rows[k]
				g.ensureCells(row)
				row.lo, row.hi = lo, lo+r.IntN(units+1-lo)
				for u := row.lo; u <= row.hi; u++ {
					if row.cells[u] = r.Uint64N(m.prime); largest {
						row.cells[u] = m.prime - 1
					}
				}
			}
		}
		return g
	}
	for range 300 {
		a, b := random(), random()
		used, units := r.IntN(a.maxUsed+b.maxUsed+1), r.IntN(a.maxUnits+b.maxUnits+1)
		aLo, aHi, aRows := a.unitsRange()
		bLo, bHi, bRows := b.unitsRange()
		if aRows == 0 || bRows == 0 || aLo+bLo > units {
			continue
		}
		direct, fast := emptyGrid(a.arith, used, units), emptyGrid(a.arith, used, units)
		m.multiplyDirect(direct, a, b)
		length := 1
		for length <= aHi-aLo+bHi-bLo {
			length *= 2
		}
		m.multiplyByTransforms(fast, a, b, aLo, bLo, length)
		for k := range direct.rows {
			x, y := &direct.rows[k], &fast.rows[k]
			if x.lo != y.lo || x.hi != y.hi || !x.isEmpty() && !slices.Equal(x.cells, y.cells) {
				t.Fatalf("row %d: %d..%d %v by terms, %d..%d %v by transforms", k, x.lo, x.hi, x.cells, y.lo, y.hi, y.cells)
			}
		}
	}
	bit := new(booleanArithmetic)
	for range 300 {
		a, b := random(), random()
		used, units := a.maxUsed+b.maxUsed, a.maxUnits+b.maxUnits-r.IntN(min(a.maxUnits, b.maxUnits)+1)
		want := make([]map[int]bool, used+1)
		set := func(g *grid[[]uint64, factor]) *grid[[]uint64, struct{}] {
			out := emptyGrid[[]uint64, struct{}](bit, g.maxUsed, g.maxUnits)
			for k := range g.rows {
				if from, to := &g.rows[k], &out.rows[k]; !from.isEmpty() {
					out.ensureCells(to)
					to.lo, to.hi = from.lo, from.hi
					for u := from.lo; u <= from.hi; u++ {
						if from.cells[u] = from.cells[u] >> 58; from.cells[u] > 0 {
							bit.setOne(to.cells, u)
						}
					}
				}
			}
			return out
		}
		got := bit.multiply(set(a), set(b), used, units)
		for i := range a.rows {
			for j := range b.rows {
				for u := a.rows[i].lo; u <= a.rows[i].hi; u++ {
					for v := b.rows[j].lo; v <= b.rows[j].hi; v++ {
						if a.rows[i].cells[u] > 0 && b.rows[j].cells[v] > 0 && u+v <= units {
							if want[i+j] == nil {
								want[i+j] = make(map[int]bool)
							}
							want[i+j][u+v] = true
						}
					}
				}
			}
		}
		for k := range got.rows {
			row := &got.rows[k]
			for u := 0; u < 64*len(row.cells); u++ {
				if set := row.cells[u/64]>>(u%64)&1 == 1; set != want[k][u] || set && (u < row.lo || u > row.hi) {
					t.Fatalf("row %d, cell %d of %d: set is %v", k, u, units, set)
				}
			}
			if row.cells == nil && len(want[k]) > 0 {
				t.Fatalf("row %d is empty", k)
			}
		}
	}

	// (p−1)² is 1 modulo p.
	large := make([]uint64, 1000)
	for u := range large {
		large[u] = m.prime - 1
	}
	w, sum := newProductSum(1), make([]uint64, 1)
	w.addDot(m, large, large)
	w.addDot(m, large, large)
	if w.storeReduced(m, sum); sum[0] != 2000 {
		t.Errorf("the sum of 2000 products of p−1 is %d", sum[0])
	}
}

// Sums of products are as accurate as is stated, also where each block is lost
// next to those before.
func TestDot(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 11))
	for n := 0; n < 5000; n += 1 + n/20 {
		a, b := make([]float64, n), make([]float64, n)
		for i := range a {
			a[i], b[i] = r.Float64(), math.Exp(20*r.NormFloat64())
			if n > 2000 {
				a[i], b[i] = 0x1p-53/dotBlock, 0.9
			}
		}
		if n > 2000 {
			a[0], b[n-1] = 1, 1
		}
		exact := new(big.Float).SetPrec(3000)
		for i := range a {
			x := new(big.Float).SetPrec(3000).SetFloat64(a[i])
			exact.Add(exact, x.Mul(x, new(big.Float).SetFloat64(b[n-1-i])))
		}
		off := new(big.Float).SetPrec(3000).SetFloat64(dot(a, b))
		relative, _ := off.Sub(off, exact).Float64()
		size, _ := exact.Float64()
		if !(math.Abs(relative) <= dotError(n)*0x1p-53*size) {
			t.Errorf("a sum of %d products is off by %g of %g", n, relative, size)
		}
	}
}

// Every arithmetic sums over windows as the definition does: exactly modulo a
// prime, zero or not, and in floating point to the last bit.
func TestWindows(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 9))
	m := newModularArithmetic(largestPrimes(1)[0])
	float, bit := &compensatedArithmetic{tilt: 1}, new(booleanArithmetic)
	for range 5000 {
		top := r.IntN(150)
		k := amountSet{lo: 1 + r.IntN(5), step: 1 + r.IntN(4), n: 1 + r.IntN(12)}
		if r.IntN(4) == 0 {
			k.n = 1 + r.IntN(200)
		}
		lo := r.IntN(top + 1)
		hi := lo + r.IntN(top+1-lo)
		srcM, dstM := m.row(top+1), m.row(top+1)
		srcF, dstF := float.row(top+1), float.row(top+1)
		srcB, dstB := bit.row(top+1), bit.row(top+1)
		want := make([]*big.Int, top+1)
		for u := range want {
			want[u] = new(big.Int)
			if r.IntN(3) == 0 {
				want[u].SetUint64(r.Uint64() >> 8)
				dstM[u] = want[u].Uint64()
				dstF.h[u], dstF.l[u] = split(want[u])
				bit.setOne(dstB, u)
			}
		}
		for u := lo; u <= hi; u++ {
			if r.IntN(3) == 0 {
				continue
			}
			x := new(big.Int).SetUint64(r.Uint64() >> 8)
			srcM[u] = x.Uint64()
			srcF.h[u], srcF.l[u] = split(x)
			bit.setOne(srcB, u)
			for a, left := k.lo, k.n; left > 0; a, left = a+k.step, left-1 {
				if u+a <= top {
					want[u+a].Add(want[u+a], x)
				}
			}
		}
		m.window(dstM, srcM, lo, hi, k, top)
		float.window(dstF, srcF, lo, hi, k, top)
		bit.window(dstB, srcB, lo, hi, k, top)
		for u, w := range want {
			if got := new(big.Int).SetUint64(dstM[u]); got.Cmp(new(big.Int).Mod(w, new(big.Int).SetUint64(m.prime))) != 0 {
				t.Fatalf("%+v of %d..%d, cell %d: %v modulo p, not %v", k, lo, hi, u, got, w)
			}
			exact, _ := new(big.Float).SetInt(w).Float64()
			if got := dstF.h[u] + dstF.l[u]; math.Abs(got-exact) > 0x1p-52*exact {
				t.Fatalf("%+v of %d..%d, cell %d: %v in floating point, not %v", k, lo, hi, u, got, exact)
			}
			if got := dstB[u/64]>>(u%64)&1 == 1; got != (w.Sign() > 0) {
				t.Fatalf("%+v of %d..%d, cell %d: set is %v, and the sum %v", k, lo, hi, u, got, w)
			}
		}
		for u := top + 1; u < 64*len(dstB); u++ {
			if dstB[u/64]>>(u%64)&1 == 1 {
				t.Fatalf("%+v of %d..%d sets cell %d beyond %d", k, lo, hi, u, top)
			}
		}
	}
}

// split returns x as a floating-point number and what that lacks.
func split(x *big.Int) (h, l float64) {
	c := (&compensatedArithmetic{}).coefficient(x)
	return c.h, c.l
}

// The tables for draws hold exact counts, rounded to the last bit: those of the
// nodes of a tree over classes, many of them with binomial coefficients beyond
// 2^53, equal what the plainest programme finds. Plain sums would be off by a
// hundred times as much.
func TestTablesAreRoundedCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 10))
	s := Space{Total: 120, Ingredients: make([]Ingredient, 150)}
	for i := range s.Ingredients {
		s.Ingredients[i] = Ingredient{Min: 2, Max: 70}
		if i < 40 {
			s.Ingredients[i] = Ingredient{Min: 1 + r.IntN(4), Max: 20 + r.IntN(100), Step: 1 + r.IntN(2)}
		}
	}
	const used = 25
	table, err := New(context.Background(), s, Options{MaxUsed: used})
	if err != nil {
		t.Fatal(err)
	}
	sampler, err := table.Sampler(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var members func(n *node) []int32
	members = func(n *node) []int32 {
		if n.class != nil {
			return n.class.members
		}
		return slices.Concat(members(n.left), members(n.right))
	}
	worst, cells := 0.0, 0
	var check func(n *node)
	check = func(n *node) {
		if n.class != nil && len(n.class.members) == 1 {
			return
		}
		plain := newPlain(used, s.Total)
		plain[0][0].SetInt64(1)
		for _, i := range members(n) {
			plain = plain.times(s.Ingredients[i])
		}
		for k := range plain {
			for u, ways := range plain[k] {
				got := 0.0
				if k < len(n.rows) && n.rows[k].lo <= u && u <= n.rows[k].hi() {
					got = n.rows[k].values[u-n.rows[k].lo]
				}
				exact := new(big.Float).SetInt(ways)
				if ways.Sign() == 0 {
					if got != 0 {
						t.Fatalf("%v ways where there are none", got)
					}
					continue
				}
				off := new(big.Float).Sub(new(big.Float).SetFloat64(got), exact)
				relative, _ := off.Quo(off, exact).Float64()
				worst, cells = max(worst, math.Abs(relative)), cells+1
			}
		}
		if n.class == nil {
			check(n.left)
			check(n.right)
		}
	}
	check(sampler.root.left)
	check(sampler.root.right)
	if worst > 0x1.01p-53 {
		t.Errorf("the tables are off by a relative %g, %.3g units of roundoff", worst, worst*0x1p53)
	}
	if cells < 10_000 {
		t.Errorf("%d cells were compared", cells)
	}
}
