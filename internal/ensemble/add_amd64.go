package ensemble

// add32 does the work of [addPortable] for float32, with four sums per instruction. It adds to
// sixteen sums, or to thirty-two if wide is true.
func add32(sums *float32, wide bool, terms []float32, places []laneChange[float32], masks *[2 * laneCount]uint32)

// add64 does the work of [addPortable] for float64, with two sums per instruction. It adds to the
// eight sums from index lane on.
func add64(sums *float64, terms []float64, places []laneChange[float64], lane int, masks *[2 * laneCount]uint64)

func newFloat32Adder() termAdder[float32] {
	masks := newLaneMasks[uint32]()
	return func(sums []float32, terms []float32, places []laneChange[float32]) {
		add32(&sums[0], len(sums) > shortLaneCount, terms, places, masks)
	}
}

func newFloat64Adder() termAdder[float64] {
	masks := newLaneMasks[uint64]()
	return func(sums []float64, terms []float64, places []laneChange[float64]) {
		for lane := 0; lane < len(sums); lane += shortLaneCount / 2 {
			add64(&sums[0], terms, places, lane, masks)
		}
	}
}

// newLaneMasks returns laneCount elements of zeros followed by laneCount elements of all ones. The
// laneCount elements from index laneCount − q on are the mask of the lanes from q on.
func newLaneMasks[T uint32 | uint64]() *[2 * laneCount]T {
	var m [2 * laneCount]T
	for q := laneCount; q < len(m); q++ {
		m[q] = ^T(0)
	}
	return &m
}
