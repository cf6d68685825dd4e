//go:build !amd64

package ensemble

func adder32() adder[float32] { return addPlain[float32] }
func adder64() adder[float64] { return addPlain[float64] }
