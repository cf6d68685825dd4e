package ensemble

// add32 is [addPlain] of float32, sixteen at once.
//
//go:noescape
func add32(sums *row[float32], terms []float32, places []place, rows []row[float32])

// add64 is [addPlain] of float64.
//
//go:noescape
func add64(sums *row[float64], terms []float64, places []place, rows []row[float64])
