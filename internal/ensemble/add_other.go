//go:build !amd64

package ensemble

func newFloat32Adder() termAdder[float32] { return addPortable[float32] }
func newFloat64Adder() termAdder[float64] { return addPortable[float64] }
