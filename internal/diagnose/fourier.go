package diagnose

import (
	"math/bits"

	"kir/internal/portable"
)

// fourierTransform transforms sequences of n complex numbers, where n is a power of two, in place:
//
//	z_k ← Σ_j z_j·exp(−2πi·jk/n)
//
// The method is that of Cooley and Tukey (1965, "An algorithm for the machine calculation of complex Fourier
// series"), which divides the sequence into quarters. Each quarter is transformed as a whole before the next
// quarter, so that short sequences stay in the processor's cache.
type fourierTransform struct {
	length   int
	twiddles [][]twiddleFactors // item b holds the factors for joining four quarters to a sequence of 2^b numbers
}

// A twiddleFactors holds the factors exp(−2πi·jk/n), j = 1, 2, 3, for one k, as cosines and sines.
type twiddleFactors struct{ c1, s1, c2, s2, c3, s3 float64 }

func newFourierTransform(n int) *fourierTransform {
	f := &fourierTransform{length: n, twiddles: make([][]twiddleFactors, bits.Len(uint(n)))}
	for m := n; m >= 4; m /= 4 {
		turns := make([]twiddleFactors, m/4)
		for k := range turns {
			t := &turns[k]
			t.c1, t.s1 = portable.UnitRoot(-k, m)
			t.c2, t.s2 = portable.UnitRoot(-2*k, m)
			t.c3, t.s3 = portable.UnitRoot(-3*k, m)
		}
		f.twiddles[bits.Len(uint(m))-1] = turns
	}
	return f
}

// transform replaces the complex numbers with the given real and imaginary parts by their Fourier transform.
func (f *fourierTransform) transform(re, im []float64) {
	places := bits.LeadingZeros64(uint64(f.length)) + 1
	for k := range f.length {
		if at := int(bits.Reverse64(uint64(k)) >> places); at > k {
			re[k], re[at] = re[at], re[k]
			im[k], im[at] = im[at], im[k]
		}
	}
	f.joinQuarters(re[:f.length], im[:f.length])
}

// joinQuarters transforms numbers whose indices are in bit-reversed order: the first quarter of the slices holds
// the numbers 0, 4, 8, ..., the second quarter 2, 6, ..., the third 1, 5, ..., and the last 3, 7, ...
func (f *fourierTransform) joinQuarters(re, im []float64) {
	n := len(re)
	if n < 4 {
		if n == 2 {
			re[0], re[1] = re[0]+re[1], re[0]-re[1]
			im[0], im[1] = im[0]+im[1], im[0]-im[1]
		}
		return
	}
	q := n / 4
	re0, re2, re1, re3 := re[:q], re[q:2*q], re[2*q:3*q], re[3*q:]
	im0, im2, im1, im3 := im[:q], im[q:2*q], im[2*q:3*q], im[3*q:]
	if q > 1 {
		f.joinQuarters(re0, im0)
		f.joinQuarters(re2, im2)
		f.joinQuarters(re1, im1)
		f.joinQuarters(re3, im3)
	}
	turns := f.twiddles[bits.Len(uint(n))-1][:q]
	re0, re2, re1, re3 = re0[:len(turns)], re2[:len(turns)], re1[:len(turns)], re3[:len(turns)]
	im0, im2, im1, im3 = im0[:len(turns)], im2[:len(turns)], im1[:len(turns)], im3[:len(turns)]
	for k := range turns {
		t := &turns[k]
		x1, y1 := float64(re1[k]*t.c1)-float64(im1[k]*t.s1), float64(re1[k]*t.s1)+float64(im1[k]*t.c1)
		x2, y2 := float64(re2[k]*t.c2)-float64(im2[k]*t.s2), float64(re2[k]*t.s2)+float64(im2[k]*t.c2)
		x3, y3 := float64(re3[k]*t.c3)-float64(im3[k]*t.s3), float64(re3[k]*t.s3)+float64(im3[k]*t.c3)
		a, b := re0[k]+x2, im0[k]+y2
		c, d := re0[k]-x2, im0[k]-y2
		u, v := x1+x3, y1+y3
		w, z := x1-x3, y1-y3
		re0[k], im0[k] = a+u, b+v
		re1[k], im1[k] = a-u, b-v
		re2[k], im2[k] = c+z, d-w
		re3[k], im3[k] = c-z, d+w
	}
}
