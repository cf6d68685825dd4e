package mcmc

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
)

// A Rand is the random number generator of one chain.
//
// Kernels draw only by its few methods: a uniform integer, a Bernoulli trial, and a choice in
// proportion to weights. So a test can replace the generator by an [Oracle], run a kernel for every
// possible outcome of its choices, and compute the exact transition matrix of the kernel.
//
// The generator is PCG-DXSM with 128 bits of state (math/rand/v2). A Rand is not safe for
// concurrent use.
type Rand struct {
	pcg    rand.PCG
	oracle Oracle // decides the choices in place of the generator; nil outside of tests
}

// An Oracle decides the random choices of a [Rand] in place of the generator; see [NewOracleRand].
// It is only for authors of a [Kernel] or a [Proposal]. Their tests can enumerate all choices and
// so check the exact transition matrix.
type Oracle interface {
	// Uniform returns an integer 0 ≤ k < n in place of a uniform random integer.
	Uniform(n int) int
	// Choose returns an index k in place of a random index with probability weights[k]/Σ weights.
	Choose(weights []float64) int
}

// NewRand returns the random number generator that belongs to a seed, a purpose and an index, such
// as (1, "chain", 3). The SHA-256 of the three is the initial state of the generator. So generators
// that differ in one of the three are independent for all practical purposes.
func NewRand(seed uint64, purpose string, index uint64) *Rand {
	key := make([]byte, 16, 16+len(purpose))
	binary.LittleEndian.PutUint64(key, seed)
	binary.LittleEndian.PutUint64(key[8:], index)
	sum := sha256.Sum256(append(key, purpose...))
	r := new(Rand)
	r.pcg.Seed(binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:16]))
	return r
}

// NewOracleRand returns a Rand whose choices the oracle decides.
func NewOracleRand(o Oracle) *Rand { return &Rand{oracle: o} }

// Uint64 returns 64 random bits. Kernels must not call it, because an oracle cannot enumerate its
// results. With an oracle it panics.
func (r *Rand) Uint64() uint64 {
	if r.oracle != nil {
		panic("kir: a kernel drew raw bits, which cannot be enumerated; use Intn, Bernoulli or Categorical")
	}
	return r.pcg.Uint64()
}

// Intn returns an integer that is exactly uniform on 0 ≤ k < n (Lemire 2019, "Fast random integer
// generation in an interval"). The argument n must be positive.
func (r *Rand) Intn(n int) int {
	if r.oracle != nil {
		return r.oracle.Uniform(n)
	}
	hi, lo := bits.Mul64(r.pcg.Uint64(), uint64(n))
	if lo < uint64(n) {
		for least := -uint64(n) % uint64(n); lo < least; {
			hi, lo = bits.Mul64(r.pcg.Uint64(), uint64(n))
		}
	}
	return int(hi)
}

// intnPair returns two independent integers, exactly uniform on 0 ≤ a < n and 0 ≤ b < m, from one
// random word. The arguments must be positive and their product below 2⁶³.
//
// It uses Lemire's method for one integer that is uniform below n·m. The quotient and the remainder
// of that integer by m result from two multiplications, without a division.
func (r *Rand) intnPair(n, m int) (a, b int) {
	if r.oracle != nil {
		return r.oracle.Uniform(n), r.oracle.Uniform(m)
	}
	hi, lo := bits.Mul64(r.pcg.Uint64(), uint64(n))
	hi2, lo2 := bits.Mul64(lo, uint64(m))
	if nm := uint64(n) * uint64(m); lo2 < nm {
		for least := -nm % nm; lo2 < least; {
			hi, lo = bits.Mul64(r.pcg.Uint64(), uint64(n))
			hi2, lo2 = bits.Mul64(lo, uint64(m))
		}
	}
	return int(hi), int(hi2)
}

// Bernoulli returns true with probability p. It returns false if p ≤ 0 and true if p ≥ 1.
func (r *Rand) Bernoulli(p float64) bool {
	if p >= 1 {
		return true
	}
	if !(p > 0) {
		return false
	}
	if r.oracle != nil {
		return r.oracle.Choose([]float64{1 - p, p}) == 1
	}
	return r.float64() < p
}

// Categorical returns k with probability weights[k]/Σ weights. All weights must be finite and
// non-negative, and at least one must be positive.
func (r *Rand) Categorical(weights []float64) int {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	return r.categorical(weights, total)
}

// categorical is [Rand.Categorical] for callers that know total, the sum of the weights.
func (r *Rand) categorical(weights []float64, total float64) int {
	if r.oracle != nil {
		return r.oracle.Choose(weights)
	}
	u := float64(r.float64() * total)
	last := 0
	for k, w := range weights {
		if w > 0 {
			if u < w {
				return k
			}
			last = k
		}
		u -= w
	}
	return last // rounding pushed u past the end
}

// intnAndFloat returns an integer k uniform on 0 ≤ k < n and an independent number u uniform on
// [0, 1), from one random word. The argument n must be below 2³¹, so that u has at least 33 random
// bits.
func (r *Rand) intnAndFloat(n int) (k int, u float64) {
	hi, lo := bits.Mul64(r.pcg.Uint64(), uint64(n))
	return int(hi), float64(float64(lo>>11) * 0x1p-53)
}

// float64 returns a random multiple of 2⁻⁵³, uniform on [0, 1).
func (r *Rand) float64() float64 { return float64(float64(r.pcg.Uint64()>>11) * 0x1p-53) }

// MarshalBinary returns the state of the generator, from which [Rand.UnmarshalBinary] continues
// later. It fails if an oracle decides the choices.
func (r *Rand) MarshalBinary() ([]byte, error) {
	if r.oracle != nil {
		return nil, fmt.Errorf("kir: random choices that an oracle decides have no state to save")
	}
	return r.pcg.MarshalBinary()
}

// UnmarshalBinary restores the state that [Rand.MarshalBinary] returned.
func (r *Rand) UnmarshalBinary(data []byte) error {
	if err := r.pcg.UnmarshalBinary(data); err != nil {
		return fmt.Errorf("kir: the saved state of a random stream is damaged: %w", err)
	}
	r.oracle = nil
	return nil
}
