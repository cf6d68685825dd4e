package count

import (
	"context"
	"fmt"
	"math/big"
	"math/bits"
)

// primeBits and twoAdicity define the primes for modular counting: the primes have the form c·2^24+1 and lie just
// below 2^61. A sum of a few residues fits in a 64-bit word, and a sum of 64 products fits in two words. There
// are roots of unity for transforms up to length 2^24.
const (
	primeBits  = 61 // the primes are below 2^primeBits
	twoAdicity = 24 // the primes are 1 modulo 2^twoAdicity
)

// largestPrimes returns the n largest primes of the form c·2^twoAdicity+1 below 2^primeBits. ProbablyPrime is exact
// below 2^64.
func largestPrimes(n int) []uint64 {
	out := make([]uint64, 0, n)
	for c := uint64(1)<<(primeBits-twoAdicity) - 1; len(out) < n; c-- {
		if p := c<<twoAdicity + 1; new(big.Int).SetUint64(p).ProbablyPrime(0) {
			out = append(out, p)
		}
	}
	return out
}

// modularArithmetic is arithmetic modulo the prime p. A modularArithmetic is not safe for concurrent use.
type modularArithmetic struct {
	prime      uint64
	unityRoot  uint64             // root of unity of order 2^twoAdicity
	transforms map[int]*transform // maps a length to the transform of that length, for the transforms made so far
}

// A factor is a constant w below the prime p, stored with ⌊w·2^64/p⌋ so that multiplication by w needs no
// division (Shoup's method; NTL, MulModPrecon).
type factor struct{ w, quotient uint64 }

func newModularArithmetic(p uint64) *modularArithmetic {
	m := &modularArithmetic{prime: p, transforms: make(map[int]*transform)}
	for x := uint64(2); ; x++ {
		m.unityRoot = m.power(x, (p-1)>>twoAdicity)
		if m.power(m.unityRoot, 1<<(twoAdicity-1)) != 1 {
			return m
		}
	}
}

func (m *modularArithmetic) mul(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return bits.Rem64(hi, lo, m.prime)
}

func (m *modularArithmetic) power(x, e uint64) uint64 {
	y := uint64(1)
	for ; e > 0; e >>= 1 {
		if e&1 == 1 {
			y = m.mul(y, x)
		}
		x = m.mul(x, x)
	}
	return y
}

func (m *modularArithmetic) inverse(x uint64) uint64 { return m.power(x, m.prime-2) }

func (m *modularArithmetic) factor(w uint64) factor {
	q, _ := bits.Div64(w, 0, m.prime)
	return factor{w, q}
}

// lazyMul returns a number below 2p that equals x·f.w modulo p.
func lazyMul(x uint64, f factor, p uint64) uint64 {
	q, _ := bits.Mul64(f.quotient, x)
	return f.w*x - q*p
}

// reduceOnce returns x modulo p, for x in 0..2p−1.
func reduceOnce(x, p uint64) uint64 {
	x -= p
	return x + p&uint64(int64(x)>>63)
}

func (m *modularArithmetic) row(n int) []uint64 { return make([]uint64, n) }

func (m *modularArithmetic) setOne(r []uint64, u int) { r[u] = 1 }

func (m *modularArithmetic) clear(r []uint64, lo, hi int) { clear(r[lo : hi+1]) }

func (m *modularArithmetic) coefficient(c *big.Int) factor {
	return m.factor(new(big.Int).Mod(c, new(big.Int).SetUint64(m.prime)).Uint64())
}

func (m *modularArithmetic) add(dst, src []uint64, lo, hi, up int, c factor) {
	d, s := dst[lo+up:hi+up+1], src[lo:hi+1]
	s = s[:len(d)]
	p := m.prime
	if c.w == 1 {
		for u := range d {
			d[u] = reduceOnce(d[u]+s[u], p)
		}
		return
	}
	for u := range d {
		d[u] = reduceOnce(d[u]+reduceOnce(lazyMul(s[u], c, p), p), p)
	}
}

// window adds the window sums of src to dst: to cell u of dst the sum of the cells u−a of src over the amounts a
// of k. window keeps a running sum: the cell that enters the window is added, and the cell that leaves the window
// is subtracted.
func (m *modularArithmetic) window(dst, src []uint64, lo, hi int, k amountSet, maxUnits int) {
	if k.step == 1 {
		m.addWindowSums(dst[:maxUnits+1], src[lo:hi+1], lo+k.lo, k.n)
		return
	}
	p := m.prime
	for from := lo; from < min(lo+k.step, hi+1); from++ {
		sum := uint64(0)
		for v, u := from, from+k.lo; u <= maxUnits; v, u = v+k.step, u+k.step {
			if v <= hi {
				sum = reduceOnce(sum+src[v], p)
			}
			if out := v - k.n*k.step; out >= from {
				if out > hi {
					break
				}
				sum = reduceOnce(sum+p-src[out], p)
			}
			dst[u] = reduceOnce(dst[u]+sum, p)
		}
	}
}

// addWindowSums adds sums of n neighbouring cells of x to dst: the sum that ends at the first cell of x goes to
// cell at of dst, the next sum to cell at+1, and so on. Sums that reach beyond an end of x have fewer cells.
func (m *modularArithmetic) addWindowSums(dst, x []uint64, at, n int) {
	if at >= len(dst) {
		return
	}
	p := m.prime
	dst = dst[at:]
	sum := uint64(0)
	q := 0
	for end := min(n, len(x), len(dst)); q < end; q++ { // start of x: cells enter the window and no cell leaves
		sum = reduceOnce(sum+x[q], p)
		dst[q] = reduceOnce(dst[q]+sum, p)
	}
	for end := min(n, len(dst)); q < end; q++ { // the window covers all of x, so the sum stays the same
		dst[q] = reduceOnce(dst[q]+sum, p)
	}
	if end := min(len(x), len(dst)); q < end { // one cell enters the window and one cell leaves
		d, in := dst[q:end], x[q:end]
		out := x[q-n:]
		out = out[:len(d)]
		in = in[:len(d)]
		for t := range d {
			// The difference, reduced to 0..p−1, does not depend on the running sum, so the processor computes
			// the difference ahead.
			change := in[t] - out[t]
			change += p & uint64(int64(change)>>63)
			sum = reduceOnce(sum+change, p)
			d[t] = reduceOnce(d[t]+sum, p)
		}
		q = end
	}
	for end := min(len(x)+n-1, len(dst)); q < end; q++ { // end of x: cells leave the window and no cell enters
		sum = reduceOnce(sum+p-x[q-n], p)
		dst[q] = reduceOnce(dst[q]+sum, p)
	}
}

// A productSum accumulates sums of products modulo a prime, one sum for each cell of a row. Each sum has two
// words, one in highWords and one in lowWords, which together hold 64 products of numbers below 2^61.
type productSum struct {
	highWords, lowWords    []uint64
	productsSinceReduction int // number of products added to a sum since the sums were last reduced modulo the prime
}

func newProductSum(n int) *productSum {
	return &productSum{highWords: make([]uint64, n), lowWords: make([]uint64, n)}
}

func (w *productSum) reset() {
	clear(w.highWords)
	clear(w.lowWords)
	w.productsSinceReduction = 0
}

// reserve makes room for one more product in each sum: if the product could overflow a sum, reserve first reduces
// the sums modulo the prime.
func (w *productSum) reserve(m *modularArithmetic) {
	if w.productsSinceReduction == 60 {
		for u, hi := range w.highWords {
			w.lowWords[u] = bits.Rem64(hi, w.lowWords[u], m.prime)
			w.highWords[u] = 0
		}
		w.productsSinceReduction = 1
	}
	w.productsSinceReduction++
}

// addEach adds a[u]·b[u] to the sum of each cell u.
func (w *productSum) addEach(m *modularArithmetic, a, b []uint64) {
	w.reserve(m)
	lo := w.lowWords[:len(a)]
	hi := w.highWords[:len(a)]
	b = b[:len(a)]
	for u, x := range a {
		h, l := bits.Mul64(x, b[u])
		var carry uint64
		lo[u], carry = bits.Add64(lo[u], l, 0)
		hi[u] += h + carry
	}
}

// addScaled adds x·b[u] to the sum of cell at+u, for each index u of b.
func (w *productSum) addScaled(m *modularArithmetic, x uint64, b []uint64, at int) {
	w.reserve(m)
	lo := w.lowWords[at:]
	lo = lo[:len(b)]
	hi := w.highWords[at:]
	hi = hi[:len(b)]
	for u, y := range b {
		h, l := bits.Mul64(x, y)
		var carry uint64
		lo[u], carry = bits.Add64(lo[u], l, 0)
		hi[u] += h + carry
	}
}

// addDot adds Σ a[t]·b[len(a)−1−t] to the sum of the first cell.
func (w *productSum) addDot(m *modularArithmetic, a, b []uint64) {
	hi, lo := w.highWords[0], w.lowWords[0]
	for t, x := range a {
		if t%32 == 0 {
			hi, lo = 0, bits.Rem64(hi, lo, m.prime)
		}
		h, l := bits.Mul64(x, b[len(a)-1-t])
		var carry uint64
		lo, carry = bits.Add64(lo, l, 0)
		hi += h + carry
	}
	w.highWords[0], w.lowWords[0] = hi, lo
}

// storeReduced writes the sums, reduced modulo the prime, to dst.
func (w *productSum) storeReduced(m *modularArithmetic, dst []uint64) {
	for u := range dst {
		dst[u] = bits.Rem64(w.highWords[u], w.lowWords[u], m.prime)
	}
}

// unitsRange returns the least and the greatest number of units with a nonzero count in any row, and the number
// of rows with a nonzero count.
func (g *grid[R, C]) unitsRange() (lo, hi, rows int) {
	lo, hi = g.maxUnits+1, -1
	for k := range g.rows {
		if r := &g.rows[k]; !r.isEmpty() {
			lo, hi, rows = min(lo, r.lo), max(hi, r.hi), rows+1
		}
	}
	return lo, hi, rows
}

// multiply returns the product of two grids. multiply picks the cheaper of two methods: adding up products of
// cells directly, or transforming the rows of both grids by number-theoretic transforms and multiplying cell by
// cell.
func (m *modularArithmetic) multiply(a, b *grid[[]uint64, factor], maxUsed, maxUnits int) *grid[[]uint64, factor] {
	out := emptyGrid(a.arith, maxUsed, maxUnits)
	aLo, aHi, aRows := a.unitsRange()
	bLo, bHi, bRows := b.unitsRange()
	if aRows == 0 || bRows == 0 || aLo+bLo > maxUnits {
		return out
	}
	direct := 0.0
	for i := range a.rows {
		for j := range b.rows {
			if ra, rb := &a.rows[i], &b.rows[j]; i+j <= maxUsed && !ra.isEmpty() && !rb.isEmpty() {
				direct += float64(float64(ra.hi-ra.lo+1) * float64(rb.hi-rb.lo+1))
			}
		}
	}
	length := 1 << bits.Len(uint(aHi-aLo+bHi-bLo))
	// A butterfly of the transform costs about as much as two products.
	fast := float64(float64(length) * (float64(aRows*bRows) + float64(2*(aRows+bRows)*bits.Len(uint(length)))))
	if direct <= fast || length > 1<<twoAdicity {
		m.multiplyDirect(out, a, b)
	} else {
		m.multiplyByTransforms(out, a, b, aLo, bLo, length)
	}
	return out
}

func (m *modularArithmetic) multiplyDirect(out, a, b *grid[[]uint64, factor]) {
	w := newProductSum(out.maxUnits + 1)
	for k := range out.rows {
		w.reset()
		r := &out.rows[k]
		for i := max(0, k-b.maxUsed); i <= min(k, a.maxUsed); i++ {
			ra, rb := &a.rows[i], &b.rows[k-i]
			if ra.isEmpty() || rb.isEmpty() || ra.lo+rb.lo > out.maxUnits {
				continue
			}
			if ra.hi-ra.lo > rb.hi-rb.lo {
				ra, rb = rb, ra
			}
			for u := ra.lo; u <= ra.hi && u+rb.lo <= out.maxUnits; u++ {
				if x := ra.cells[u]; x != 0 {
					w.addScaled(m, x, rb.cells[rb.lo:min(rb.hi, out.maxUnits-u)+1], u+rb.lo)
				}
			}
			r.widenRange(ra.lo+rb.lo, min(ra.hi+rb.hi, out.maxUnits))
		}
		if !r.isEmpty() {
			out.ensureCells(r)
			w.storeReduced(m, r.cells)
		}
	}
}

func (m *modularArithmetic) multiplyByTransforms(out, a, b *grid[[]uint64, factor], aLo, bLo, length int) {
	t := m.transform(length)
	forward := func(g *grid[[]uint64, factor], lo int) [][]uint64 {
		rows := make([][]uint64, len(g.rows))
		for k := range g.rows {
			if r := &g.rows[k]; !r.isEmpty() {
				rows[k] = make([]uint64, length)
				copy(rows[k][r.lo-lo:], r.cells[r.lo:r.hi+1])
				t.forward(rows[k])
			}
		}
		return rows
	}
	fa, fb := forward(a, aLo), forward(b, bLo)
	w := newProductSum(length)
	cells := make([]uint64, length)
	for k := range out.rows {
		w.reset()
		r := &out.rows[k]
		for i := max(0, k-b.maxUsed); i <= min(k, a.maxUsed); i++ {
			ra, rb := &a.rows[i], &b.rows[k-i]
			if ra.isEmpty() || rb.isEmpty() || ra.lo+rb.lo > out.maxUnits {
				continue
			}
			w.addEach(m, fa[i], fb[k-i])
			r.widenRange(ra.lo+rb.lo, min(ra.hi+rb.hi, out.maxUnits))
		}
		if !r.isEmpty() {
			w.storeReduced(m, cells)
			t.backward(cells)
			out.ensureCells(r)
			copy(r.cells[r.lo:r.hi+1], cells[r.lo-aLo-bLo:])
		}
	}
}

// modularCounts returns the number of compositions of n ingredients modulo p, for n = 0..maxUsedOnward.
func modularCounts(ctx context.Context, plan *plan, p uint64) ([]uint64, error) {
	m := newModularArithmetic(p)
	factors, err := factorGrids[[]uint64, factor](ctx, m, plan.root)
	if err != nil {
		return nil, fmt.Errorf("count: %w", err)
	}
	maxFactors := 2 // the last product is needed only at the total units
	if plan.frontier != nil {
		maxFactors = 1
	}
	factors, err = multiplyUntil(ctx, m, factors, maxFactors, plan.root.maxUsed, plan.total)
	if err != nil {
		return nil, fmt.Errorf("count: %w", err)
	}
	if plan.frontier != nil {
		whole, err := countByFrontier(ctx, m, plan, factors[0], nil)
		if err != nil {
			return nil, fmt.Errorf("count: %w", err)
		}
		factors = []*grid[[]uint64, factor]{whole}
	}
	counts := make([]uint64, plan.maxUsed+1)
	a := factors[0]
	if len(factors) == 1 {
		for k := range a.rows {
			if r := &a.rows[k]; r.lo <= plan.total && plan.total <= r.hi {
				counts[k] = r.cells[plan.total]
			}
		}
		return counts, nil
	}
	b := factors[1]
	w := newProductSum(1)
	for k := range min(plan.root.maxUsed, a.maxUsed+b.maxUsed) + 1 {
		w.reset()
		for i := max(0, k-b.maxUsed); i <= min(k, a.maxUsed); i++ {
			ra, rb := &a.rows[i], &b.rows[k-i]
			if lo, hi := max(ra.lo, plan.total-rb.hi), min(ra.hi, plan.total-rb.lo); lo <= hi {
				w.addDot(m, ra.cells[lo:hi+1], rb.cells[plan.total-hi:plan.total-lo+1])
			}
		}
		w.storeReduced(m, counts[k:k+1])
	}
	return counts, nil
}

// reconstructCounts returns the numbers 0 ≤ x[n] < Π primes whose remainder modulo primes[i] is residues[i][n].
// reconstructCounts uses Garner's form of the Chinese remainder theorem.
func reconstructCounts(primes []uint64, residues [][]uint64) []*big.Int {
	out := make([]*big.Int, len(residues[0]))
	for n := range out {
		out[n] = new(big.Int)
	}
	modulus := big.NewInt(1)
	for t, p := range primes {
		m := &modularArithmetic{prime: p}
		prime := new(big.Int).SetUint64(p)
		inverse := m.inverse(new(big.Int).Mod(modulus, prime).Uint64())
		rest, term := new(big.Int), new(big.Int)
		for n, x := range out {
			have := rest.Mod(x, prime).Uint64()
			digit := m.mul(reduceOnce(residues[t][n]+p-have, p), inverse)
			x.Add(x, term.Mul(modulus, term.SetUint64(digit)))
		}
		modulus = new(big.Int).Mul(modulus, prime)
	}
	return out
}
