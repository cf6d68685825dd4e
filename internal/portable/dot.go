package portable

// Dot returns Σ_k x[k]·y[k] over the indices k of x. Dot adds up every fourth product in one of four sums, and
// then adds up the four sums.
func Dot(x, y []float64) float64 {
	y = y[:len(x)]
	var a, b, c, d float64
	for len(x) >= 4 && len(y) >= 4 {
		a += float64(x[0] * y[0])
		b += float64(x[1] * y[1])
		c += float64(x[2] * y[2])
		d += float64(x[3] * y[3])
		x, y = x[4:], y[4:]
	}
	for k, v := range x {
		a += float64(v * y[k])
	}
	return (a + b) + (c + d)
}

// AddScaled adds factor·x[k] to y[k] for every index k of x.
func AddScaled(y []float64, factor float64, x []float64) {
	y = y[:len(x)]
	for k, v := range x {
		y[k] += float64(factor * v)
	}
}
