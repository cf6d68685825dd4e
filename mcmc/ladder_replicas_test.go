package mcmc_test

import (
	"fmt"
	"testing"

	"kir/internal/testonly/testmode"
	"kir/mcmc"
)

// However many replicas move at once, the draws and all that is reported are
// the same.
func TestTemperedOnAnyNumberOfWorkers(t *testing.T) {
	targets := chainTargets(t)
	targets["steep"] = steep(t)
	for name, target := range targets {
		k, err := mcmc.NewTempered(target)
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		for _, workers := range testmode.Pick([]int{1, 2, 8}, []int{1, 3}) {
			c, err := k.NewChain(3, 0)
			if err != nil {
				t.Fatal(err)
			}
			if workers > 1 {
				c.MoveAtOnce(workers)
			}
			if err := c.Warm(testmode.Pick(250, 150)); err != nil {
				t.Fatal(err)
			}
			c.EndWarmup()
			if rungs := len(c.Ladder().Rungs); name == "steep" && rungs < 10 {
				t.Errorf("the ladder has %d rungs and did not grow", rungs)
			}
			got := trace(t, c, 100) + fmt.Sprintf(" %+v", c.Ladder())
			if workers == 1 {
				want = got
			} else if got != want {
				t.Errorf("%s: %d workers make it otherwise", name, workers)
			}
		}
	}
}
