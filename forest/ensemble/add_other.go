//go:build !amd64

package ensemble

func adder32() adder[float32] { return adder[float32]{addPlain[float32], spreadPlain[float32]} }
func adder64() adder[float64] { return adder[float64]{addPlain[float64], spreadPlain[float64]} }
