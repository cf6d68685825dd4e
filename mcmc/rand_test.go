package mcmc_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"kir/internal/testonly/stattest"
	"kir/mcmc"
)

// next returns a Rand whose next random word is the given one, by running the
// generator backwards: PCG-DXSM scrambles the state one-to-one where its low
// half is 1, and its step is invertible.
func next(t *testing.T, word uint64) *mcmc.Rand {
	t.Helper()
	const cheapMul = 0xda942042e4dd58b5
	inverse := uint64(cheapMul) // Newton: twice as many right bits each time
	for range 6 {
		inverse *= 2 - cheapMul*inverse
	}
	hi := word // times lo|1 = 1
	hi ^= hi >> 48
	hi *= inverse
	hi ^= hi >> 32

	two64 := new(big.Int).Lsh(big.NewInt(1), 64)
	two128 := new(big.Int).Lsh(big.NewInt(1), 128)
	wide := func(hi, lo uint64) *big.Int {
		x := new(big.Int).SetUint64(hi)
		return x.Lsh(x, 64).Add(x, new(big.Int).SetUint64(lo))
	}
	multiplier := wide(2549297995355413924, 4865540595714422341)
	increment := wide(6364136223846793005, 1442695040888963407)
	state := wide(hi, 1)
	state.Sub(state, increment).Mod(state, two128)
	state.Mul(state, new(big.Int).ModInverse(multiplier, two128)).Mod(state, two128)

	data := []byte("pcg:")
	data = binary.BigEndian.AppendUint64(data, new(big.Int).Rsh(state, 64).Uint64())
	data = binary.BigEndian.AppendUint64(data, new(big.Int).Mod(state, two64).Uint64())
	r := new(mcmc.Rand)
	if err := r.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	return r
}

// state returns what a Rand saves of itself.
func state(t *testing.T, r *mcmc.Rand) []byte {
	t.Helper()
	data, err := r.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestNextWord(t *testing.T) {
	for _, word := range []uint64{0, 1, 2, 1 << 63, math.MaxUint64, 0x123456789abcdef0} {
		if got := next(t, word).Uint64(); got != word {
			t.Errorf("the next word is %x, want %x", got, word)
		}
	}
}

// ends returns the first and the last of the random words that a uniform
// choice below n multiplies and shifts to k: ⌈k·2⁶⁴/n⌉ and ⌈(k+1)·2⁶⁴/n⌉ − 1.
func ends(k, n uint64) (first, last uint64) {
	at := func(k uint64) uint64 { // ⌈k·2⁶⁴/n⌉, 0 for 2⁶⁴
		if k == n {
			return 0
		}
		q, r := bits.Div64(k, 0, n)
		if r > 0 {
			q++
		}
		return q
	}
	return at(k), at(k+1) - 1
}

// accepted returns for how many random words a choice comes out as want,
// among those from first to last, of which the choice may ask for another word
// at the first only.
func accepted(t *testing.T, first, last uint64, want int, choose func(r *mcmc.Rand) int) uint64 {
	t.Helper()
	count := last - first + 1
	for _, word := range []uint64{first, first + 1, first + (last-first)/2, last} {
		if word > last { // there is one word only
			continue
		}
		r, once := next(t, word), next(t, word)
		once.Uint64()
		got := choose(r)
		again := !bytes.Equal(state(t, r), state(t, once))
		switch {
		case again && word == first:
			count--
		case again:
			t.Fatalf("word %x for %d is thrown away", word, want)
		case got != want:
			t.Fatalf("word %x gives %d, want %d", word, got, want)
		}
	}
	return count
}

// some returns a few of 0..n−1: all if n is small.
func some(n uint64) []uint64 {
	if n <= 40 {
		all := make([]uint64, n)
		for k := range all {
			all[k] = uint64(k)
		}
		return all
	}
	return []uint64{0, 1, 2, n / 3, n / 2, n/2 + 1, n - 2, n - 1}
}

// Each outcome has exactly ⌊2⁶⁴/n⌋ of the 2⁶⁴ random words.
func TestIntnHasNoBias(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 5, 6, 7, 10, 33, 64, 1000, 1<<31 - 1, 1 << 40, 3 << 60, 1<<63 - 25} {
		for _, k := range some(n) {
			first, last := ends(k, n)
			got := accepted(t, first, last, int(k), func(r *mcmc.Rand) int { return r.Intn(int(n)) })
			if want, _ := bits.Div64(1, 0, max(n, 2)); n > 1 && got != want {
				t.Errorf("%d of %d comes out for %d words, want %d", k, n, got, want)
			}
		}
	}
}

// So has each pair.
func TestPairHasNoBias(t *testing.T) {
	for _, size := range [][2]uint64{{1, 1}, {1, 7}, {7, 1}, {2, 3}, {3, 2}, {5, 6}, {64, 64}, {20, 1999}, {2000, 1999}, {1<<31 - 1, 1<<31 - 2}} {
		n, m := size[0], size[1]
		for _, k := range some(n * m) {
			first, last := ends(k, n*m)
			got := accepted(t, first, last, int(k), func(r *mcmc.Rand) int {
				a, b := r.Pair(int(n), int(m))
				if a < 0 || a >= int(n) || b < 0 || b >= int(m) {
					t.Fatalf("%d, %d of %d, %d", a, b, n, m)
				}
				return a*int(m) + b
			})
			if want, _ := bits.Div64(1, 0, max(n*m, 2)); n*m > 1 && got != want {
				t.Errorf("%d of %d·%d comes out for %d words, want %d", k, n, m, got, want)
			}
		}
	}
}

// shares returns for how many of the 2⁵³ values of a uniform number, which the
// top bits of a random word are, each outcome of a choice comes out. Outcomes
// must come in the order of rank as the number rises.
func shares(t *testing.T, rank func(outcome int) int, choose func(r *mcmc.Rand) int) map[int]uint64 {
	t.Helper()
	at := func(u uint64) int { return choose(next(t, u<<11|(u&1)<<10)) }
	counts := make(map[int]uint64)
	const all = 1 << 53
	for from := uint64(0); from < all; {
		k := at(from)
		// The first number from which on another outcome comes.
		lo, hi := from, uint64(all)
		for lo+1 < hi {
			mid := lo + (hi-lo)/2
			switch got := at(mid); {
			case got == k:
				lo = mid
			case rank(got) < rank(k):
				t.Fatalf("%d comes after %d", got, k)
			default:
				hi = mid
			}
		}
		counts[k] += hi - from
		from = hi
	}
	return counts
}

// checkShares compares counts of 2⁵³ with weights: to within 4, as numbers at
// the edge of an outcome may fall to either side by rounding, and to a
// relative 2⁻⁴⁸.
func checkShares(t *testing.T, name string, counts map[int]uint64, weights []float64) {
	t.Helper()
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	for k, w := range weights {
		want := w / sum * (1 << 53)
		if got := float64(counts[k]); math.Abs(got-want) > 4+want*0x1p-48 || w == 0 && got != 0 {
			t.Errorf("%s: %d comes out %v times of 2⁵³, want %v", name, k, got, want)
		}
		delete(counts, k)
	}
	if len(counts) > 0 {
		t.Errorf("%s: outcomes %v have no weight", name, counts)
	}
}

func TestCategorical(t *testing.T) {
	identity := func(k int) int { return k }
	for _, weights := range [][]float64{
		{1}, {1, 1}, {1, 2, 3}, {0, 1}, {1, 0}, {0, 0, 3, 0, 1, 0}, {1e-300, 1}, {1, 1e-300}, {1e-300, 3e-300},
		{0.1, 0.2, 0.3, 0.4}, {1e10, 1, 1e-10}, slices.Repeat([]float64{1. / 3}, 50), {1e300, 7e300},
	} {
		counts := shares(t, identity, func(r *mcmc.Rand) int { return r.Categorical(weights) })
		checkShares(t, "categorical", counts, weights)
	}
}

func TestBernoulli(t *testing.T) {
	for _, p := range []float64{0.5, 0.25, 0.1, 1e-9, 1 - 1e-9, 0x1p-53} {
		counts := shares(t, func(k int) int { return -k }, func(r *mcmc.Rand) int {
			if r.Bernoulli(p) {
				return 1
			}
			return 0
		})
		checkShares(t, "Bernoulli", counts, []float64{1 - p, p})
	}
	// What is sure takes no random word.
	for p, want := range map[float64]bool{0: false, -1: false, 1: true, 7: true, math.Inf(1): true} {
		r := mcmc.NewRand(1, "test", 0)
		before := state(t, r)
		if r.Bernoulli(p) != want || !bytes.Equal(before, state(t, r)) {
			t.Errorf("Bernoulli(%v) is not simply %v", p, want)
		}
	}
}

// The stream of a key is part of what a seed means: it may not change from one
// version to the next.
func TestStreamsAreFixed(t *testing.T) {
	r := mcmc.NewRand(1, "chain", 2)
	for _, want := range []uint64{0x4c85b72becd03f72, 0x4fa16a93b10e722b, 0xb5e9b8723343174b} {
		if got := r.Uint64(); got != want {
			t.Errorf("%#x, want %#x", got, want)
		}
	}
}

func TestStreamsDiffer(t *testing.T) {
	seen := make(map[uint64]string)
	for seed := range uint64(4) {
		for _, purpose := range []string{"", "chain", "chain ", "control"} {
			for index := range uint64(4) {
				first := mcmc.NewRand(seed, purpose, index).Uint64()
				if other, ok := seen[first]; ok {
					t.Errorf("%d %q %d begins as %s", seed, purpose, index, other)
				}
				seen[first] = purpose
				if again := mcmc.NewRand(seed, purpose, index).Uint64(); again != first {
					t.Errorf("%d %q %d is not the same twice", seed, purpose, index)
				}
			}
		}
	}
}

// The draws of one stream, and those of neighbouring streams, look independent
// and uniform. Three exact tests at 1e-9 each; the seed is fixed.
func TestStreamsLookUniform(t *testing.T) {
	const draws, size = 200_000, 12
	uniform := slices.Repeat([]float64{1. / size}, size)
	pairs := slices.Repeat([]float64{1. / (size * size)}, size*size)
	one, within, across := make([]int, size), make([]int, size*size), make([]int, size*size)
	a, b := mcmc.NewRand(3, "chain", 0), mcmc.NewRand(3, "chain", 1)
	last := a.Intn(size)
	for range draws {
		k := a.Intn(size)
		one[k]++
		across[k*size+b.Intn(size)]++
		within[last*size+k]++
		last = k
	}
	for name, c := range map[string]struct {
		counts []int
		law    []float64
	}{"one": {one, uniform}, "one after another": {within, pairs}, "two streams": {across, pairs}} {
		if p, at := stattest.TestLaw(c.counts, c.law); p < 1e-9 {
			t.Errorf("%s: p-value %.3g (at %s)", name, p, at)
		}
	}
}

func TestRandSavesAndRestores(t *testing.T) {
	r := mcmc.NewRand(9, "chain", 0)
	r.Uint64()
	data := state(t, r)
	again := new(mcmc.Rand)
	if err := again.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if a, b := r.Uint64(), again.Uint64(); a != b {
			t.Fatalf("%x and %x", a, b)
		}
	}
	for _, damaged := range [][]byte{nil, {1, 2, 3}, data[1:], append(slices.Clone(data), 0)} {
		if err := new(mcmc.Rand).UnmarshalBinary(damaged); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("got %v of %q", err, damaged)
		}
	}
}

// first is an oracle that always picks the first.
type first struct{}

func (first) Uniform(int) int      { return 0 }
func (first) Choose([]float64) int { return 0 }

func TestOracleRand(t *testing.T) {
	r := mcmc.NewOracleRand(first{})
	if _, err := r.MarshalBinary(); err == nil {
		t.Error("an oracle's state is saved")
	}
	defer func() {
		if recover() == nil {
			t.Error("raw bits come out of an oracle")
		}
	}()
	r.Uint64()
}
