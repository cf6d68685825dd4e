package ensemble

// add32 is [addPlain] of float32, four sums an instruction.
//
//go:noescape
func add32(sums *row[float32], terms []float32, places []place, rows []row[float32])

// add64 is [addPlain] of float64, two sums an instruction.
//
//go:noescape
func add64(sums *row[float64], terms []float64, places []place, rows []row[float64])

// set32 sets those numbers of a row whose mask is all ones.
//
//go:noescape
func set32(r *row[float32], mask *[lanes]uint32, v float32)

// set64 is set32 for float64.
//
//go:noescape
func set64(r *row[float64], mask *[lanes]uint64, v float64)

// Masks: those for the lanes from q on begin at lanes − q.
const ones = 1<<64 - 1

var (
	masks32 = [2 * lanes]uint32{
		lanes: ones >> 32, ones >> 32, ones >> 32, ones >> 32, ones >> 32, ones >> 32, ones >> 32, ones >> 32,
		ones >> 32, ones >> 32, ones >> 32, ones >> 32, ones >> 32, ones >> 32, ones >> 32, ones >> 32,
	}
	masks64 = [2 * lanes]uint64{
		lanes: ones, ones, ones, ones, ones, ones, ones, ones, ones, ones, ones, ones, ones, ones, ones, ones,
	}
)

func adder32() adder[float32] {
	return adder[float32]{add32, func(r *row[float32], lane int, v float32) {
		set32(r, (*[lanes]uint32)(masks32[lanes-lane:]), v)
	}}
}

func adder64() adder[float64] {
	return adder[float64]{add64, func(r *row[float64], lane int, v float64) {
		set64(r, (*[lanes]uint64)(masks64[lanes-lane:]), v)
	}}
}
