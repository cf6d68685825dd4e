package ensemble

// add32 is the assembly version of [addPortable] for float32; each instruction adds four sums. The
// slice sums has 16 elements, or 32 if wide is true.
func add32(sums *float32, wide bool, terms []float32, places []laneChange[float32], masks *[2 * laneCount]uint32)

// add64 is the assembly version of [addPortable] for float64; each instruction adds two sums. It
// updates eight sums, sums[lane:lane+8].
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

// newLaneMasks returns laneCount zeros followed by laneCount elements whose bits are all ones. The
// laneCount elements from index laneCount − q on form a mask that selects the lanes with index q
// and above.
func newLaneMasks[T uint32 | uint64]() *[2 * laneCount]T {
	var m [2 * laneCount]T
	for q := laneCount; q < len(m); q++ {
		m[q] = ^T(0)
	}
	return &m
}
