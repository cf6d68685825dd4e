//go:build !amd64

package ensemble

func add32(sums *row[float32], terms []float32, places []place, rows []row[float32]) {
	addPlain(sums, terms, places, rows)
}

func add64(sums *row[float64], terms []float64, places []place, rows []row[float64]) {
	addPlain(sums, terms, places, rows)
}
