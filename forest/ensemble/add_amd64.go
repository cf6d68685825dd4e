package ensemble

// add32 is [addPlain] of float32, four sums an instruction.
//
//go:noescape
func add32(sums *row[float32], terms []row[float32])

// add64 is [addPlain] of float64, two sums an instruction.
//
//go:noescape
func add64(sums *row[float64], terms []row[float64])
