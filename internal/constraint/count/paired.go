package count

import (
	"math"
	"math/big"
)

// compensatedArithmetic is an [arithmetic] in floating point with almost twice the precision of float64. A number
// is h + l: h is the sum in plain arithmetic, and l is the sum of the rounding errors of h. Each addition to h
// also computes the exact rounding error of the addition (Knuth's TwoSum), which is added to l.
//
// All numbers are positive and nothing is subtracted. So a sum over D successive additions has a relative error
// of about D²·2^-106 instead of D·2^-53 (Ogita, Rump and Oishi 2005, "Accurate sum and dot product"). The
// rounded value of h+l is the exact count to within a unit in the last place.
//
// Counts of n used ingredients are stored multiplied by tilt^n, which keeps counts within the range of float64.
// Because tilt is a power of two, the factor is exact. Because a draw compares only counts of equal numbers of
// used ingredients, the factor cancels in draws.
type compensatedArithmetic struct {
	tilt          float64
	blockSuffixes pairRow // buffer of windowStrided: item o is the sum of the last cells of a block, from place o on
}

// A pairRow holds the cells of a row as two slices, h and l. The count of cell u is h[u] + l[u].
type pairRow struct{ h, l []float64 }

// A pairFactor is the factor h + l of a row.
type pairFactor struct{ h, l float64 }

// twoSum returns s, the rounded sum a+b, and the exact rounding error (a+b) − s.
func twoSum(a, b float64) (s, err float64) {
	s = a + b
	v := s - a
	return s, (a - (s - v)) + (b - v)
}

// twoProduct returns p, the rounded product a·b, and the exact rounding error a·b − p.
func twoProduct(a, b float64) (p, err float64) {
	p = float64(a * b)
	return p, math.FMA(a, b, -p)
}

func (*compensatedArithmetic) row(n int) pairRow {
	cells := make([]float64, 2*n)
	return pairRow{cells[:n:n], cells[n:]}
}

func (*compensatedArithmetic) setOne(r pairRow, u int) { r.h[u] = 1 }

func (*compensatedArithmetic) clear(r pairRow, lo, hi int) {
	clear(r.h[lo : hi+1])
	clear(r.l[lo : hi+1])
}

func (*compensatedArithmetic) coefficient(c *big.Int) pairFactor {
	h, _ := new(big.Float).SetInt(c).Float64()
	whole, _ := new(big.Float).SetFloat64(h).Int(nil)
	l, _ := new(big.Float).SetInt(whole.Sub(c, whole)).Float64()
	return pairFactor{h, l}
}

func (*compensatedArithmetic) add(dst, src pairRow, lo, hi, up int, c pairFactor) {
	dh, dl, sh, sl := dst.h[lo+up:hi+up+1], dst.l[lo+up:hi+up+1], src.h[lo:hi+1], src.l[lo:hi+1]
	dl, sh, sl = dl[:len(dh)], sh[:len(dh)], sl[:len(dh)]
	if c.h == 1 {
		for u, d := range dh {
			h, e := twoSum(d, sh[u])
			dh[u] = h
			dl[u] += sl[u] + e
		}
		return
	}
	for u, d := range dh {
		x, rest := twoProduct(sh[u], c.h)
		rest += float64(sh[u]*c.l) + float64(sl[u]*c.h)
		h, e := twoSum(d, x)
		dh[u] = h
		dl[u] += rest + e
	}
}

// window adds the window sums of src to dst without subtraction (van Herk 1992; Gil and Werman 1993). A window
// sum is the sum of the cells u−a over the amounts a of k. The cells are divided into blocks as long as a window.
// Each window then consists of the end of one block and the beginning of the next block, and window keeps running
// sums of both.
func (p *compensatedArithmetic) window(dst, src pairRow, lo, hi int, k amountSet, maxUnits int) {
	if k.n > 1 && len(p.blockSuffixes.h) < min(k.n, len(src.h)+1)+1 {
		p.blockSuffixes = p.row(min(k.n, len(src.h)+1) + 1)
	}
	for from := lo; from < min(lo+k.step, hi+1) && from+k.lo <= maxUnits; from++ {
		p.windowStrided(dst, src, from, (hi-from)/k.step+1, k, min((hi-from)/k.step+k.n-1, (maxUnits-from-k.lo)/k.step))
	}
}

// windowStrided does the work of window for n cells of src: the cells from, from+k.step, from+2·k.step, and so
// on. The windows are numbered from 0 to last.
func (p *compensatedArithmetic) windowStrided(dst, src pairRow, from, n int, k amountSet, last int) {
	tilt := p.tilt
	for block := 0; block <= last; block += k.n {
		var h, l, e float64 // running sum from the start of the block
		end := min(block+k.n-1, last)
		v := from + block*k.step
		for q := block; q <= end; q++ {
			if q < n {
				h, e = twoSum(h, float64(tilt*src.h[v]))
				l += float64(tilt*src.l[v]) + e
			}
			sum, rest := h, l
			if o := q - block + 1; block > 0 && o < k.n {
				sum, e = twoSum(h, p.blockSuffixes.h[o])
				rest += p.blockSuffixes.l[o] + e
			}
			u := v + k.lo
			dst.h[u], e = twoSum(dst.h[u], sum)
			dst.l[u] += rest + e
			v += k.step
		}
		if block+k.n > last {
			return
		}
		h, l = 0, 0
		v = from + (block+k.n-1)*k.step
		for o := k.n - 1; o > 0; o-- {
			if block+o < n {
				h, e = twoSum(h, float64(tilt*src.h[v]))
				l += float64(tilt*src.l[v]) + e
			}
			p.blockSuffixes.h[o], p.blockSuffixes.l[o] = h, l
			v -= k.step
		}
	}
}

// multiply returns the product of two grids. The sums of products are less accurate than other sums of this
// arithmetic: see [dot].
func (p *compensatedArithmetic) multiply(a, b *grid[pairRow, pairFactor], maxUsed, maxUnits int) *grid[pairRow, pairFactor] {
	out := emptyGrid(a.arith, maxUsed, maxUnits)
	ra, rb := roundedRows(a), roundedRows(b)
	for i, x := range ra {
		for j, y := range rb {
			if i+j > maxUsed || len(x.values) == 0 || len(y.values) == 0 || x.lo+y.lo > maxUnits {
				continue
			}
			r := &out.rows[i+j]
			out.ensureCells(r)
			hi := min(x.hi()+y.hi(), maxUnits)
			for u := x.lo + y.lo; u <= hi; u++ {
				var e float64
				r.cells.h[u], e = twoSum(r.cells.h[u], dotAt(x, y, u))
				r.cells.l[u] += e
			}
			r.widenRange(x.lo+y.lo, hi)
		}
	}
	return out
}

// A series holds the counts of a row as plain float64: values[t] is the count for lo+t units. All other counts
// are zero.
type series struct {
	lo     int
	values []float64
}

func (s series) hi() int { return s.lo + len(s.values) - 1 }

// roundedRows returns the rows of a grid with each count rounded to one float64, and without zeros at the ends.
func roundedRows(g *grid[pairRow, pairFactor]) []series {
	rows := make([]series, len(g.rows))
	for k := range g.rows {
		rows[k] = roundedRow(&g.rows[k])
	}
	return rows
}

func roundedRow(r *row[pairRow]) series {
	lo, hi := r.lo, r.hi
	for lo <= hi && r.cells.h[lo] == 0 {
		lo++
	}
	for lo <= hi && r.cells.h[hi] == 0 {
		hi--
	}
	if r.isEmpty() || lo > hi {
		return series{}
	}
	s := series{lo, make([]float64, hi-lo+1)}
	for u := lo; u <= hi; u++ {
		s.values[u-lo] = r.cells.h[u] + r.cells.l[u]
	}
	return s
}

// overlapRange returns the range of t for which both x[t] and y[u−t] are stored.
func overlapRange(x, y series, u int) (lo, hi int) {
	return max(x.lo, u-y.hi()), min(x.hi(), u-y.lo)
}

// dotAt returns the convolution Σ x[t]·y[u−t] at u.
func dotAt(x, y series, u int) float64 {
	lo, hi := overlapRange(x, y, u)
	if lo > hi {
		return 0
	}
	return dot(x.values[lo-x.lo:hi-x.lo+1], y.values[u-hi-y.lo:u-lo-y.lo+1])
}

// dotBlock is the number of products that dot adds up in plain arithmetic. dot compensates rounding errors only
// when it adds up the sums of such blocks.
const dotBlock = 64

// dot returns Σ a[t]·b[len(b)−1−t] with a relative error of at most dotError(len(a))·2^-53. The products of each
// block are summed in plain arithmetic, in eight interleaved sums for speed. The sums of the blocks are added
// with compensated errors.
func dot(a, b []float64) float64 {
	var total, rest, e float64
	for len(a) > dotBlock {
		total, e = twoSum(total, dotShort(a[:dotBlock], b[len(b)-dotBlock:]))
		rest += e
		a, b = a[dotBlock:], b[:len(b)-dotBlock]
	}
	total, e = twoSum(total, dotShort(a, b))
	return total + (rest + e)
}

func dotShort(a, b []float64) float64 {
	var s [8]float64
	for len(a) >= 8 && len(b) >= 8 {
		x, y := (*[8]float64)(a), (*[8]float64)(b[len(b)-8:])
		s[0] += float64(x[0] * y[7])
		s[1] += float64(x[1] * y[6])
		s[2] += float64(x[2] * y[5])
		s[3] += float64(x[3] * y[4])
		s[4] += float64(x[4] * y[3])
		s[5] += float64(x[5] * y[2])
		s[6] += float64(x[6] * y[1])
		s[7] += float64(x[7] * y[0])
		a, b = a[8:], b[:len(b)-8]
	}
	rest := 0.0
	for t, x := range a {
		rest += float64(x * b[len(b)-1-t])
	}
	return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])) + rest
}

// dotError returns an upper bound of the relative error of dot over n products, in units of 2^-53. The bound
// adds up the errors of a product, of the additions within a block, and of the sum of blocks.
func dotError(n int) float64 {
	if n <= 1 {
		return 1
	}
	return float64(1 + min(n, dotBlock/8+3) + 2)
}
