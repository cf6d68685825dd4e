package run

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"

	"kir/internal/diagnose"
	"kir/internal/number"
	"kir/internal/portable"
	"kir/mcmc"
)

// A Baseline summarises the scores of random compositions. They are drawn exactly and independently
// from the sparsity law, which is the distribution without regard to the properties.
type Baseline struct {
	Random     number.Number `json:"random"`      // mean of the score Π_k y_k^c_k
	RandomSE   number.Number `json:"random_se"`   // standard error of Random
	RandomSize int           `json:"random_size"` // number of random compositions
	LogScores  []float64     `json:"-"`           // log score of each random composition; −Inf where the score is 0
}

// baselineSize returns the number of random compositions in the baseline: 10,000, or fewer where
// that would exceed a tenth of the run's work, but at least 100.
func baselineSize(s *mcmc.Settings) int {
	iterations := float64(float64(s.Chains) * float64(s.Iterations()))
	return int(min(10_000, max(100, iterations/10)))
}

// newBaseline draws random compositions and summarises their scores. It returns nil if no property
// has a positive weight.
func newBaseline(ctx context.Context, s *Spec) (*Baseline, error) {
	if !s.hasObjectives() {
		return nil, nil
	}
	b := new(Baseline)
	err := visitRandomCompositions(ctx, s, "baseline", baselineSize(&s.Settings), func(x *mcmc.Composition) error {
		score, err := s.Target.LogScore(x)
		b.LogScores = append(b.LogScores, score)
		return err
	})
	if err != nil {
		return nil, err
	}
	b.RandomSize = len(b.LogScores)
	n, first := float64(b.RandomSize), portable.Exp(b.LogScores[0])
	mean := first // and what is beyond it, so that equal scores have a mean without rounding
	for _, score := range b.LogScores {
		mean += (portable.Exp(score) - first) / n
	}
	squares := 0.0
	for _, score := range b.LogScores {
		d := portable.Exp(score) - mean
		squares += float64(d * d)
	}
	b.Random, b.RandomSE = number.Number(mean), number.Number(math.Sqrt(squares/(n-1)/n))
	if diagnose.IsConstant(portable.Exp(slices.Min(b.LogScores)), portable.Exp(slices.Max(b.LogScores))) {
		b.RandomSE = number.Unknown() // all score the same, which tells no error
	}
	return b, nil
}

// visitRandomCompositions draws count random compositions, independently from the target's sparsity
// law, and calls visit for each. The sparsity law is the distribution without regard to the
// properties. The parameter purpose is a text; each purpose has its own stream of random numbers.
func visitRandomCompositions(ctx context.Context, s *Spec, purpose string, count int, visit func(x *mcmc.Composition) error) error {
	r := mcmc.NewRand(s.Settings.Seed, purpose, 0)
	for x, err := range mcmc.NewPrior(s.Target).DrawsToScore(ctx, r, count) {
		if err != nil {
			return err
		}
		if err := visit(x); err != nil {
			return err
		}
	}
	return nil
}

// targetFingerprint returns an SHA-256 that identifies the target of a run, whatever file defined
// the target. The hash covers the probabilities of the sparsity law, the weights, the conditions,
// and the scores of some random compositions. If two targets differ in any of these, their
// fingerprints differ.
func targetFingerprint(s *Spec) (string, error) {
	h := sha256.New()
	number := func(x float64) {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], math.Float64bits(x))
		h.Write(b[:])
	}
	law := s.Target.Law()
	lo, hi := law.Support()
	for n := lo; n <= hi; n++ {
		number(float64(n))
		number(law.P(n))
	}
	for _, w := range s.Target.Objectives() {
		h.Write([]byte(w.Name))
		number(w.Weight)
	}
	for _, c := range s.Target.Space().Conditions() {
		h.Write([]byte(c.Name))
		for _, w := range c.Weights {
			number(w)
		}
	}
	err := visitRandomCompositions(context.Background(), s, "fingerprint", 64, func(x *mcmc.Composition) error {
		for _, w := range s.Target.Objectives() {
			number(w.Property.LogScore(x))
		}
		return nil
	})
	return hex.EncodeToString(h.Sum(nil)), err
}
