package count

import (
	"context"
	"fmt"
	"math/big"
	"math/bits"
)

// primeBits and twoPower shape the primes that counts are taken modulo: c·2^24+1, just below 2^61.
// The sum of two residues fits in a word, with room for lazy reduction. The sum of 64 products fits
// in two words. There are roots of unity for transforms up to length 2^24.
const (
	primeBits = 61
	twoPower  = 24
)

// primes returns the n largest primes of the form c·2^twoPower+1 below 2^primeBits. ProbablyPrime is exact below
// 2^64.
func primes(n int) []uint64 {
	out := make([]uint64, 0, n)
	for c := uint64(1)<<(primeBits-twoPower) - 1; len(out) < n; c-- {
		if p := c<<twoPower + 1; new(big.Int).SetUint64(p).ProbablyPrime(0) {
			out = append(out, p)
		}
	}
	return out
}

// modularArithmetic is arithmetic modulo a prime. It is not safe for concurrent use.
type modularArithmetic struct {
	p     uint64
	root  uint64 // root of unity of order 2^twoPower
	tools map[int]*transform
}

// A factor is a constant w below the prime p, stored with ⌊w·2^64/p⌋ so that multiplication by w needs no
// division (Shoup's method; NTL, MulModPrecon).
type factor struct{ w, quotient uint64 }

func newModular(p uint64) *modularArithmetic {
	m := &modularArithmetic{p: p, tools: make(map[int]*transform)}
	for x := uint64(2); ; x++ {
		m.root = m.power(x, (p-1)>>twoPower)
		if m.power(m.root, 1<<(twoPower-1)) != 1 {
			return m
		}
	}
}

func (m *modularArithmetic) mul(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return bits.Rem64(hi, lo, m.p)
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

func (m *modularArithmetic) inverse(x uint64) uint64 { return m.power(x, m.p-2) }

func (m *modularArithmetic) factor(w uint64) factor {
	q, _ := bits.Div64(w, 0, m.p)
	return factor{w, q}
}

// lazyMul returns a number below 2p that equals x times the factor modulo p.
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

func (m *modularArithmetic) one(r []uint64, u int) { r[u] = 1 }

func (m *modularArithmetic) clear(r []uint64, lo, hi int) { clear(r[lo : hi+1]) }

func (m *modularArithmetic) coefficient(c *big.Int) factor {
	return m.factor(new(big.Int).Mod(c, new(big.Int).SetUint64(m.p)).Uint64())
}

func (m *modularArithmetic) add(dst, src []uint64, lo, hi, up int, c factor) {
	d, s := dst[lo+up:hi+up+1], src[lo:hi+1]
	s = s[:len(d)]
	p := m.p
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

// window adds the window sums of src to dst. It keeps a running sum: the cell that enters the window is added, and
// the one that leaves is subtracted.
func (m *modularArithmetic) window(dst, src []uint64, lo, hi int, k amountSet, top int) {
	if k.step == 1 {
		m.slide(dst[:top+1], src[lo:hi+1], lo+k.lo, k.n)
		return
	}
	p := m.p
	for from := lo; from < min(lo+k.step, hi+1); from++ {
		sum := uint64(0)
		for v, u := from, from+k.lo; u <= top; v, u = v+k.step, u+k.step {
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

// slide adds to dst, from cell at on, the sum of each n neighbouring cells of x.
func (m *modularArithmetic) slide(dst, x []uint64, at, n int) {
	if at >= len(dst) {
		return
	}
	p := m.p
	dst = dst[at:]
	sum := uint64(0)
	q := 0
	for end := min(n, len(x), len(dst)); q < end; q++ { // start of x: cells enter the window and no cell leaves
		sum = reduceOnce(sum+x[q], p)
		dst[q] = reduceOnce(dst[q]+sum, p)
	}
	for end := min(n, len(dst)); q < end; q++ { // the window covers all of x, so the sum stays
		dst[q] = reduceOnce(dst[q]+sum, p)
	}
	if end := min(len(x), len(dst)); q < end { // one cell enters the window and one leaves
		d, in := dst[q:end], x[q:end]
		out := x[q-n:]
		out = out[:len(d)]
		in = in[:len(d)]
		for t := range d {
			// The difference, reduced to 0..p−1, does not depend on the running sum, so the processor computes it
			// ahead.
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

// A productSum accumulates sums of products, one sum of two words for each cell of a row. terms is the number of
// products added since the last reduction; two words hold 64 products of numbers below 2^61.
type productSum struct {
	hi, lo []uint64
	terms  int
}

func newWide(n int) *productSum { return &productSum{hi: make([]uint64, n), lo: make([]uint64, n)} }

func (w *productSum) reset() {
	clear(w.hi)
	clear(w.lo)
	w.terms = 0
}

// reserve reduces the sums modulo the prime if one more product could overflow them.
func (w *productSum) reserve(m *modularArithmetic) {
	if w.terms == 60 {
		for u, hi := range w.hi {
			w.lo[u] = bits.Rem64(hi, w.lo[u], m.p)
			w.hi[u] = 0
		}
		w.terms = 1
	}
	w.terms++
}

// addEach adds a[u]·b[u] to the sum of each cell u.
func (w *productSum) addEach(m *modularArithmetic, a, b []uint64) {
	w.reserve(m)
	lo := w.lo[:len(a)]
	hi := w.hi[:len(a)]
	b = b[:len(a)]
	for u, x := range a {
		h, l := bits.Mul64(x, b[u])
		var carry uint64
		lo[u], carry = bits.Add64(lo[u], l, 0)
		hi[u] += h + carry
	}
}

// addScaled adds x·b[u] to the sum of cell at+u, for each u.
func (w *productSum) addScaled(m *modularArithmetic, x uint64, b []uint64, at int) {
	w.reserve(m)
	lo := w.lo[at:]
	lo = lo[:len(b)]
	hi := w.hi[at:]
	hi = hi[:len(b)]
	for u, y := range b {
		h, l := bits.Mul64(x, y)
		var carry uint64
		lo[u], carry = bits.Add64(lo[u], l, 0)
		hi[u] += h + carry
	}
}

// addDot adds Σ a[t]·b[len(b)−1−t] to the sum of the first cell.
func (w *productSum) addDot(m *modularArithmetic, a, b []uint64) {
	hi, lo := w.hi[0], w.lo[0]
	for t, x := range a {
		if t%32 == 0 {
			hi, lo = 0, bits.Rem64(hi, lo, m.p)
		}
		h, l := bits.Mul64(x, b[len(a)-1-t])
		var carry uint64
		lo, carry = bits.Add64(lo, l, 0)
		hi += h + carry
	}
	w.hi[0], w.lo[0] = hi, lo
}

// store writes the sums, reduced modulo the prime, to dst.
func (w *productSum) store(m *modularArithmetic, dst []uint64) {
	for u := range dst {
		dst[u] = bits.Rem64(w.hi[u], w.lo[u], m.p)
	}
}

// amountRange returns the least and the greatest units with a nonzero count in any row, and the number of rows with
// one.
func (g *grid[R, C]) amountRange() (lo, hi, rows int) {
	lo, hi = g.maxUnits+1, -1
	for k := range g.rows {
		if r := &g.rows[k]; !r.empty() {
			lo, hi, rows = min(lo, r.lo), max(hi, r.hi), rows+1
		}
	}
	return lo, hi, rows
}

// multiply returns the product of two grids. It picks the cheaper method: sums of products, or number-theoretic
// transforms along the units followed by products cell by cell.
func (m *modularArithmetic) multiply(a, b *grid[[]uint64, factor], maxUsed, maxUnits int) *grid[[]uint64, factor] {
	out := emptyGrid(a.arith, maxUsed, maxUnits)
	aLo, aHi, aRows := a.amountRange()
	bLo, bHi, bRows := b.amountRange()
	if aRows == 0 || bRows == 0 || aLo+bLo > maxUnits {
		return out
	}
	direct := 0.0
	for i := range a.rows {
		for j := range b.rows {
			if ra, rb := &a.rows[i], &b.rows[j]; i+j <= maxUsed && !ra.empty() && !rb.empty() {
				direct += float64(float64(ra.hi-ra.lo+1) * float64(rb.hi-rb.lo+1))
			}
		}
	}
	length := 1 << bits.Len(uint(aHi-aLo+bHi-bLo))
	// A butterfly of the transform costs about as much as two products.
	fast := float64(float64(length) * (float64(aRows*bRows) + float64(2*(aRows+bRows)*bits.Len(uint(length)))))
	if direct <= fast || length > 1<<twoPower {
		m.multiplyDirect(out, a, b)
	} else {
		m.multiplyFast(out, a, b, aLo, bLo, length)
	}
	return out
}

func (m *modularArithmetic) multiplyDirect(out, a, b *grid[[]uint64, factor]) {
	w := newWide(out.maxUnits + 1)
	for k := range out.rows {
		w.reset()
		r := &out.rows[k]
		for i := max(0, k-b.maxUsed); i <= min(k, a.maxUsed); i++ {
			ra, rb := &a.rows[i], &b.rows[k-i]
			if ra.empty() || rb.empty() || ra.lo+rb.lo > out.maxUnits {
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
			r.grow(ra.lo+rb.lo, min(ra.hi+rb.hi, out.maxUnits))
		}
		if !r.empty() {
			out.ensureCells(r)
			w.store(m, r.cells)
		}
	}
}

func (m *modularArithmetic) multiplyFast(out, a, b *grid[[]uint64, factor], aLo, bLo, length int) {
	t := m.transform(length)
	forward := func(g *grid[[]uint64, factor], lo int) [][]uint64 {
		rows := make([][]uint64, len(g.rows))
		for k := range g.rows {
			if r := &g.rows[k]; !r.empty() {
				rows[k] = make([]uint64, length)
				copy(rows[k][r.lo-lo:], r.cells[r.lo:r.hi+1])
				t.forward(rows[k])
			}
		}
		return rows
	}
	fa, fb := forward(a, aLo), forward(b, bLo)
	w := newWide(length)
	cells := make([]uint64, length)
	for k := range out.rows {
		w.reset()
		r := &out.rows[k]
		for i := max(0, k-b.maxUsed); i <= min(k, a.maxUsed); i++ {
			ra, rb := &a.rows[i], &b.rows[k-i]
			if ra.empty() || rb.empty() || ra.lo+rb.lo > out.maxUnits {
				continue
			}
			w.addEach(m, fa[i], fb[k-i])
			r.grow(ra.lo+rb.lo, min(ra.hi+rb.hi, out.maxUnits))
		}
		if !r.empty() {
			w.store(m, cells)
			t.backward(cells)
			out.ensureCells(r)
			copy(r.cells[r.lo:r.hi+1], cells[r.lo-aLo-bLo:])
		}
	}
}

// modularCounts returns |X_n| modulo p for n = 0..maxUsed.
func modularCounts(ctx context.Context, plan *plan, p uint64) ([]uint64, error) {
	m := newModular(p)
	factors, err := evaluate[[]uint64, factor](ctx, m, plan.root)
	if err != nil {
		return nil, fmt.Errorf("count: %w", err)
	}
	few := 2 // the last product is needed only at the total units
	if plan.frontier != nil {
		few = 1
	}
	factors, err = reduce(ctx, m, factors, few, plan.root.maxUsed, plan.total)
	if err != nil {
		return nil, fmt.Errorf("count: %w", err)
	}
	if plan.frontier != nil {
		whole, err := completions(ctx, m, plan, factors[0], nil)
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
	w := newWide(1)
	for k := range min(plan.root.maxUsed, a.maxUsed+b.maxUsed) + 1 {
		w.reset()
		for i := max(0, k-b.maxUsed); i <= min(k, a.maxUsed); i++ {
			ra, rb := &a.rows[i], &b.rows[k-i]
			if lo, hi := max(ra.lo, plan.total-rb.hi), min(ra.hi, plan.total-rb.lo); lo <= hi {
				w.addDot(m, ra.cells[lo:hi+1], rb.cells[plan.total-hi:plan.total-lo+1])
			}
		}
		w.store(m, counts[k:k+1])
	}
	return counts, nil
}

// reconstruct returns the numbers 0 ≤ x[n] < Π primes whose remainder modulo primes[i] is residues[i][n]. It uses
// Garner's form of the Chinese remainder theorem.
func reconstruct(primes []uint64, residues [][]uint64) []*big.Int {
	out := make([]*big.Int, len(residues[0]))
	for n := range out {
		out[n] = new(big.Int)
	}
	modulus := big.NewInt(1)
	for t, p := range primes {
		m := &modularArithmetic{p: p}
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
