package run

import (
	"context"
	"testing"
	"time"

	"kir"
	"fmt"
)

func largeSpec(t testing.TB, draws int) *Spec {
	space, err := kir.NewSpace(2000, 100)
	if err != nil {
		t.Fatal(err)
	}
	target, err := kir.NewTarget(space, kir.Uniform(17, 24))
	if err != nil {
		t.Fatal(err)
	}
	s := &Spec{Name: "large", Target: target, Settings: Settings{Kernel: "accelerated", Chains: 4, Warmup: 10000, Draws: draws, Thin: 1, Seed: 1}}
	for i := range 2000 {
		s.Ingredients = append(s.Ingredients, fmt.Sprintf("ingredient %d", i+1))
	}
	return s
}

func TestLarge(t *testing.T) {
	s := largeSpec(t, 5_000_000)
	start := time.Now()
	r, err := Start(context.Background(), s, t.TempDir()+"/run", Options{Progress: func(p Progress) { t.Log(p.Done, p.RHat, p.ESS, p.Chains[0]) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(time.Since(start), r.Timing, r.Variation, r.Expected)
	t.Logf("%+v", r.Used)
	t.Logf("%+v", r.Moves)
	t.Logf("%+v", r.Sizes)
	t.Logf("%+v", r.Inclusion[0])
}
