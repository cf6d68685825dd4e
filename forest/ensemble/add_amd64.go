package ensemble

// add32 is [addPlain] of float32, four sums an instruction.
//
//go:noescape
func add32(sums *[lanes]float32, terms []float32, places []place[float32], masks *[2 * lanes]uint32)

// add64 is [addPlain] of float64 for the eight sums from a lane on, two an instruction.
//
//go:noescape
func add64(sums *[lanes]float64, terms []float64, places []place[float64], lane int, masks *[2 * lanes]uint64)

const ones = 1<<64 - 1

// Masks: those for the lanes from q on begin at lanes − q.
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
	return func(sums *[lanes]float32, terms []float32, places []place[float32]) {
		add32(sums, terms, places, &masks32)
	}
}

func adder64() adder[float64] {
	return func(sums *[lanes]float64, terms []float64, places []place[float64]) {
		add64(sums, terms, places, 0, &masks64)
		add64(sums, terms, places, lanes/2, &masks64)
	}
}
