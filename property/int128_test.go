package property

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestWide(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 4))
	value := func(w int128) *big.Int {
		v := new(big.Int).Lsh(big.NewInt(int64(w.hi)), 64)
		return v.Add(v, new(big.Int).SetUint64(w.lo))
	}
	numbers := []int64{0, 1, -1, 2, -2, 1<<62 - 1, -1 << 62, 1 << 31, -1 << 31}
	for range 200 {
		numbers = append(numbers, r.Int64()>>r.IntN(63), -r.Int64()>>r.IntN(63))
	}
	for k, a := range numbers {
		b, c := numbers[r.IntN(len(numbers))], numbers[(k*7)%len(numbers)]
		want := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
		got := multiply128(a, b)
		if value(got).Cmp(want) != 0 {
			t.Fatalf("%d·%d = %v, want %v", a, b, value(got), want)
		}
		want.Add(want, big.NewInt(c))
		got = got.plus(newInt128(c))
		if value(got).Cmp(want) != 0 {
			t.Fatalf("%d·%d + %d = %v, want %v", a, b, c, value(got), want)
		}
		plain, _ := new(big.Float).SetInt(want).Float64()
		// Two roundings, each of half a unit in the last of 53 digits.
		if got := got.toFloat64(); got != plain && (got/plain > 1+0x1p-52 || got/plain < 1-0x1p-52) {
			t.Fatalf("%v as a float is %v, want %v", want, got, plain)
		}
	}
}
