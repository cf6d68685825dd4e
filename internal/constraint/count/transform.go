package count

import "math/bits"

// A transform is the discrete Fourier transform of a fixed length, a power of two, modulo a prime. The forward
// transform leaves values in bit-reversed order, and the backward transform takes values in bit-reversed order.
// The order does not matter for products cell by cell.
//
// Each pass turns remainders modulo the polynomial x^2t − r² into remainders modulo x^t − r and x^t + r. The
// roots r in bit-reversed order are the same for all passes. Sums are reduced lazily (Harvey 2014, "Faster
// arithmetic for number-theoretic transforms"): cells stay below 4p < 2^63 in the forward transform, and below 2p
// in the backward transform.
type transform struct {
	prime               uint64   // the prime
	roots, inverseRoots []factor // roots of unity in bit-reversed order, and their inverses
	inverseLength       factor   // the factor 1/length
}

// transform returns the transform of the given length, a power of two up to 2^twoAdicity.
func (m *modularArithmetic) transform(length int) *transform {
	if t, ok := m.transforms[length]; ok {
		return t
	}
	half := max(length/2, 1)
	t := &transform{prime: m.prime, roots: make([]factor, half), inverseRoots: make([]factor, half)}
	// The root for cell i is the root of unity of order 2·half, raised to the power of i's bits in reverse.
	log := bits.Len(uint(half)) - 1
	w := m.power(m.unityRoot, 1<<(twoAdicity-log-1)) // root of unity of order 2·half
	v := m.inverse(w)
	x, y := uint64(1), uint64(1)
	for e := range half {
		i := 0
		if log > 0 {
			i = int(bits.Reverse64(uint64(e)) >> (64 - log))
		}
		t.roots[i], t.inverseRoots[i] = m.factor(x), m.factor(y)
		x, y = m.mul(x, w), m.mul(y, v)
	}
	t.inverseLength = m.factor(m.inverse(uint64(length) % m.prime))
	m.transforms[length] = t
	return t
}

// forward transforms a in place. The cells of a are below p before and after.
func (t *transform) forward(a []uint64) {
	p, p2 := t.prime, 2*t.prime
	for blocks, half := 1, len(a)/2; half >= 1; blocks, half = 2*blocks, half/2 {
		for b := range blocks {
			r := t.roots[b]
			x := a[2*b*half : 2*b*half+half]
			y := a[2*b*half+half : 2*(b+1)*half]
			y = y[:len(x)]
			for i, v := range x {
				if v >= p2 {
					v -= p2
				}
				w := lazyMul(y[i], r, p)
				x[i], y[i] = v+w, v-w+p2
			}
		}
	}
	for i, v := range a {
		if v >= p2 {
			v -= p2
		}
		a[i] = reduceOnce(v, p)
	}
}

// backward is the inverse of forward.
func (t *transform) backward(a []uint64) {
	p, p2 := t.prime, 2*t.prime
	for blocks, half := len(a)/2, 1; blocks >= 1; blocks, half = blocks/2, 2*half {
		for b := range blocks {
			r := t.inverseRoots[b]
			x := a[2*b*half : 2*b*half+half]
			y := a[2*b*half+half : 2*(b+1)*half]
			y = y[:len(x)]
			for i, v := range x {
				w := y[i]
				s := v + w
				if s >= p2 {
					s -= p2
				}
				x[i], y[i] = s, lazyMul(v-w+p2, r, p)
			}
		}
	}
	for i, v := range a {
		a[i] = reduceOnce(lazyMul(v, t.inverseLength, p), p)
	}
}
