package model

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
)

// The purposes for which random numbers are drawn. A purpose is part of the key of a
// [randomStream], so that no two purposes share random numbers.
const (
	streamForGrowing   uint64 = iota + 1 // to grow a tree
	streamForPermuting                   // to permute features for their importance
	streamForHalving                     // to divide the rows into halves
	streamForFolding                     // to divide the rows into folds of a cross-validation
)

// A randomStream is an independent source of random numbers. Its key consists of the seed, the
// purpose and an index, such as that of a tree. The random numbers of a tree therefore do not
// depend on the goroutine that grows the tree or on the order in which trees are grown.
type randomStream struct{ source *rand.ChaCha8 }

// newRandomStream returns the stream whose key consists of the seed, the purpose and the index.
func newRandomStream(seed, purpose, index uint64) randomStream {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[0:], seed)
	binary.LittleEndian.PutUint64(key[8:], purpose)
	binary.LittleEndian.PutUint64(key[16:], index)
	return randomStream{rand.NewChaCha8(key)}
}

// drawBelow returns a uniformly distributed integer from 0 to n − 1. The method is multiplication
// with rejection (Lemire 2019, Fast random integer generation in an interval).
func (s randomStream) drawBelow(n int) int {
	m := uint64(n)
	hi, lo := bits.Mul64(s.source.Uint64(), m)
	if lo < m {
		for limit := -m % m; lo < limit; {
			hi, lo = bits.Mul64(s.source.Uint64(), m)
		}
	}
	return int(hi)
}
