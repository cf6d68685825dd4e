package diagnose

import "math/bits"

// binaryCovariance is the covariance of 0/1 series. With p the mean of a series
// of n draws and D(t) = Σ_s I_s I_{s+t} the number of pairs of ones at lag t,
//
//	c_t = (D(t) − p (A_t + B_t) + (n−t) p²) / n,
//
// where A_t and B_t are the ones among the first and the last n−t draws. D is an
// integer and there are two fast ways to count it, so they give the same result
// to the last bit:
//
//   - in bits, 64 draws at a time, over the words that are not 0: good when the
//     series changes often;
//   - from the changes alone. With d_s = I_s − I_{s−1}, Σ_s d_s d_{s+t} =
//     2D(t) − D(t−1) − D(t+1), and the sum has a term for each two changes that
//     are t apart: good when the series changes rarely, however long it is.
//
// A lag so large that either would take longer than a Fourier transform of the
// series is left to denseCovariance.
type binaryCovariance struct {
	draws  int // in each series
	words  int // of a series
	memory []uint64
	used   [][]uint32 // the words of each series that are not 0
	ones   []int      // in each series
	some   []int      // the series that have ones; the others add nothing
	first  []int      // ones among the first n−t draws of each series
	last   []int      // ones among the last n−t

	lag     int   // the last lag that was asked for
	pairs   int   // D(lag), summed over the series
	before  int   // D(lag−1), when counting by changes
	block   []int // Σ d_s d_{s+t} for the lags from blockAt on
	blockAt int

	changes [][]uint32 // places of the changes of each series, its ends included
	next    [][]uint32 // the first later change that is in no block yet
	sparse  bool       // count by changes

	costly   int  // the lag from which on a Fourier transform is used
	expanded bool // dense is in use
	dense    denseCovariance
	floats   []float64
	series   [][]float64
}

// reset makes room for series of 0/1 draws, all 0.
func (c *binaryCovariance) reset(series, draws int) {
	c.draws = draws
	c.words = (draws + 63) / 64
	c.memory = grow(c.memory, series*c.words)
	clear(c.memory)
	c.used = grow(c.used, series)
	c.ones = grow(c.ones, series)
	c.first = grow(c.first, series)
	c.last = grow(c.last, series)
	c.changes = grow(c.changes, series)
	c.next = grow(c.next, series)
}

// bits returns the memory of a series: draw s is bit s%64 of word s/64.
func (c *binaryCovariance) bits(series int) []uint64 {
	return c.memory[series*c.words : (series+1)*c.words]
}

// setRun sets the draws from..to−1 of a series to 1.
func (c *binaryCovariance) setRun(series, from, to int) {
	if from >= to {
		return
	}
	b := c.bits(series)
	i, j := from/64, (to-1)/64
	head := ^uint64(0) << (from % 64)
	tail := ^uint64(0) >> (63 - (to-1)%64)
	if i == j {
		b[i] |= head & tail
		return
	}
	b[i] |= head
	for k := i + 1; k < j; k++ {
		b[k] = ^uint64(0)
	}
	b[j] |= tail
}

// prepare is to be called once the series are set. It returns their moments, in
// the memory of m.
func (c *binaryCovariance) prepare(m []moments) []moments {
	m = m[:0]
	usedWords, changes := 0, 0
	c.pairs = 0
	c.some = c.some[:0]
	for h := range c.ones {
		ones := 0
		used := c.used[h][:0]
		var carry uint64
		for w, x := range c.bits(h) {
			if x != 0 {
				used = append(used, uint32(w))
				ones += bits.OnesCount64(x)
			}
			changes += bits.OnesCount64(x ^ (x<<1 | carry))
			carry = x >> 63
		}
		c.used[h] = used
		usedWords += len(used)
		c.ones[h], c.first[h], c.last[h] = ones, ones, ones
		if ones > 0 {
			c.some = append(c.some, h)
		}
		c.pairs += ones
		p := float64(ones) / float64(c.draws)
		m = append(m, moments{n: c.draws, mean: p, squares: float64(ones) * (1 - p)})
	}
	c.lag = 0
	c.blockAt, c.block = 1, c.block[:0]
	c.expanded = false

	// Work for one lag either way, in units of about a nanosecond.
	byBits := usedWords
	byChanges := int(float64(changes)*float64(changes)/float64(c.draws*len(c.ones))) + len(c.ones)
	c.sparse = byChanges < byBits
	transform := (len(c.ones) + 1) * 2 * c.draws * bits.Len(uint(2*c.draws))
	c.costly = max(directLags, transform/max(1, min(byBits, byChanges)))
	if c.sparse {
		c.findChanges()
	}
	return m
}

// findChanges lists the places where each series changes.
func (c *binaryCovariance) findChanges() {
	changes := 0
	for _, h := range c.some {
		list := c.changes[h][:0]
		var carry uint64
		for w, x := range c.bits(h) {
			for d := x ^ (x<<1 | carry); d != 0; d &= d - 1 {
				list = append(list, uint32(64*w+bits.TrailingZeros64(d)))
			}
			carry = x >> 63
		}
		if carry != 0 && c.draws%64 == 0 {
			list = append(list, uint32(c.draws))
		}
		c.changes[h] = list
		c.next[h] = grow(c.next[h], len(list))
		for i := range list {
			c.next[h][i] = uint32(i + 1)
		}
		changes += len(list)
	}
	// D(1) = D(0) − Σ d_s²/2, as D(−1) = D(1).
	c.before = c.pairs - changes/2
}

func (c *binaryCovariance) at(lag int) float64 {
	if lag >= c.costly && !c.expanded {
		c.expand()
	}
	if c.expanded {
		return c.dense.at(lag)
	}
	for c.lag < lag {
		c.lag++
		c.step(c.lag)
	}
	if !c.sparse {
		c.pairs = c.countBits(lag)
	}
	n := float64(c.draws)
	sum := float64(c.pairs)
	for _, h := range c.some {
		p := float64(c.ones[h]) / n
		sum -= p*float64(c.first[h]+c.last[h]) - float64(c.draws-lag)*p*p
	}
	return sum / n / float64(len(c.ones))
}

// step goes from lag−1 to lag: the counts of the ones at both ends, and, when
// counting by changes, the pairs.
func (c *binaryCovariance) step(lag int) {
	for _, h := range c.some {
		b := c.bits(h)
		left, right := lag-1, c.draws-lag
		c.last[h] -= int(b[left/64] >> (left % 64) & 1)
		c.first[h] -= int(b[right/64] >> (right % 64) & 1)
	}
	if !c.sparse {
		return
	}
	if lag == 1 {
		// before holds D(1) from findChanges, pairs D(0).
		c.before, c.pairs = c.pairs, c.before
		return
	}
	if lag-1 >= c.blockAt+len(c.block) {
		c.countChanges()
	}
	c.before, c.pairs = c.pairs, 2*c.pairs-c.before-c.block[lag-1-c.blockAt]
}

// countChanges fills the next block of lags with Σ d_s d_{s+t}. Changes
// alternate between up and down, so the product is 1 for two changes that are
// an even number of changes apart, and −1 otherwise. Blocks grow with the lag.
func (c *binaryCovariance) countChanges() {
	c.blockAt += len(c.block)
	c.block = grow(c.block, max(64, c.blockAt))
	clear(c.block)
	end := uint32(c.blockAt + len(c.block))
	start := uint32(c.blockAt)
	for _, h := range c.some {
		list, next := c.changes[h], c.next[h]
		for i, from := range list {
			j := int(next[i])
			for ; j < len(list) && list[j]-from < end; j++ {
				c.block[list[j]-from-start] += 1 - (j-i)&1*2
			}
			next[i] = uint32(j)
		}
	}
}

// countBits returns D(lag), summed over the series.
func (c *binaryCovariance) countBits(lag int) int {
	skip, shift := lag/64, uint(lag%64)
	pairs := 0
	for _, h := range c.some {
		b := c.bits(h)
		for _, w := range c.used[h] {
			i := int(w) + skip
			if i >= len(b) {
				break
			}
			shifted := b[i] >> shift
			if i+1 < len(b) {
				shifted |= b[i+1] << (64 - shift)
			}
			pairs += bits.OnesCount64(b[w] & shifted)
		}
	}
	return pairs
}

// expand prepares dense.
func (c *binaryCovariance) expand() {
	c.floats = grow(c.floats, len(c.ones)*c.draws)
	c.series = c.series[:0]
	m := make([]moments, len(c.ones))
	for h := range c.ones {
		x := c.floats[h*c.draws : (h+1)*c.draws]
		b := c.bits(h)
		for s := range x {
			x[s] = float64(b[s/64] >> (s % 64) & 1)
		}
		c.series = append(c.series, x)
		m[h].mean = float64(c.ones[h]) / float64(c.draws)
	}
	c.dense.reset(c.series, m)
	c.expanded = true
}
