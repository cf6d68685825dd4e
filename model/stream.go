package model

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
)

// The purposes of streams of random numbers. A purpose is part of the key of its streams, so that
// no two purposes share random numbers.
const (
	growPurpose uint64 = iota + 1
	permutePurpose
	halvePurpose
	foldPurpose
)

// A stream is an independent source of random numbers. Its key consists of the seed, the purpose
// and an index, such as that of a tree. The random numbers of a tree therefore do not depend on the
// goroutine that grows the tree, nor on the time.
type stream struct{ source *rand.ChaCha8 }

// newStream returns the stream with the given key.
func newStream(seed, purpose, index uint64) stream {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[0:], seed)
	binary.LittleEndian.PutUint64(key[8:], purpose)
	binary.LittleEndian.PutUint64(key[16:], index)
	return stream{rand.NewChaCha8(key)}
}

// drawBelow returns a uniformly distributed integer in [0, n), for n ≥ 1, by multiplication with
// rejection (Lemire 2019, Fast random integer generation in an interval).
func (s stream) drawBelow(n int) int {
	m := uint64(n)
	hi, lo := bits.Mul64(s.source.Uint64(), m)
	if lo < m {
		for limit := -m % m; lo < limit; {
			hi, lo = bits.Mul64(s.source.Uint64(), m)
		}
	}
	return int(hi)
}
