//go:build !amd64

package ensemble

func add32(sums *row[float32], terms []row[float32]) { addPlain(sums, terms) }
func add64(sums *row[float64], terms []row[float64]) { addPlain(sums, terms) }
