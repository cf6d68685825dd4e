package portable

// Dot returns Σ x_k·y_k over the length of x. Dot computes four sums, each of every fourth product, and then
// adds up the four sums.
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

// AddScaled adds by·x_k to each y_k, over the length of x.
func AddScaled(y []float64, by float64, x []float64) {
	y = y[:len(x)]
	for k, v := range x {
		y[k] += float64(by * v)
	}
}
