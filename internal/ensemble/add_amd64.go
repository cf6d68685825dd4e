package ensemble

// add32 does the work of [addPlain] for float32: sixteen sums, or thirty-two if wide, with four sums per instruction.
func add32(sums *float32, wide bool, terms []float32, places []place[float32], masks *[2 * lanes]uint32)

// add64 does the work of [addPlain] for float64: the eight sums from the given lane on, with two sums per
// instruction.
func add64(sums *float64, terms []float64, places []place[float64], lane int, masks *[2 * lanes]uint64)

func adder32() adder[float32] {
	masks := masksOf[uint32]()
	return func(sums []float32, terms []float32, places []place[float32]) {
		add32(&sums[0], len(sums) > half, terms, places, masks)
	}
}

func adder64() adder[float64] {
	masks := masksOf[uint64]()
	return func(sums []float64, terms []float64, places []place[float64]) {
		for lane := 0; lane < len(sums); lane += half / 2 {
			add64(&sums[0], terms, places, lane, masks)
		}
	}
}

// masksOf returns a table of zeros followed by as many all-ones. The slice from index lanes − q is the mask of the
// lanes from q on.
func masksOf[T uint32 | uint64]() *[2 * lanes]T {
	var m [2 * lanes]T
	for q := lanes; q < len(m); q++ {
		m[q] = ^T(0)
	}
	return &m
}
