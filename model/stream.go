package model

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
)

// The purposes of streams of random numbers. The purpose is in the key, so that no two uses share
// numbers.
const (
	growing uint64 = iota + 1
	permuting
	halving
	folding
)

// A stream is an independent source of random numbers, keyed by the seed, the
// purpose and the index of a tree. A tree's numbers therefore do not depend on
// which worker grows it, or when.
type stream struct{ source *rand.ChaCha8 }

func newStream(seed, purpose, index uint64) stream {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[0:], seed)
	binary.LittleEndian.PutUint64(key[8:], purpose)
	binary.LittleEndian.PutUint64(key[16:], index)
	return stream{rand.NewChaCha8(key)}
}

// below returns a uniform integer in [0, n) for n ≥ 1, by multiplication with
// rejection (Lemire 2019, Fast random integer generation in an interval).
func (s stream) below(n int) int {
	m := uint64(n)
	hi, lo := bits.Mul64(s.source.Uint64(), m)
	if lo < m {
		for limit := -m % m; lo < limit; {
			hi, lo = bits.Mul64(s.source.Uint64(), m)
		}
	}
	return int(hi)
}
