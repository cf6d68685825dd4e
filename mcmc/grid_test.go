package mcmc_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"kir/internal/testonly/stattest"
	"kir/internal/testonly/testmode"
	"kir/mcmc"
)

// A gridKernel is a kernel that goes through the grid. One more kernel is one
// more line in gridKernels.
type gridKernel struct {
	name string

	// make returns the kernel as users get it. Where that fails with
	// mcmc.ErrReducible, unchecked returns it all the same, and must be
	// reducible; it is nil for kernels that are valid everywhere.
	make      func(t *mcmc.Target) (mcmc.Kernel, error)
	unchecked func(t *mcmc.Target) mcmc.Kernel

	// refuses says for which targets the kernel is not made at all; nil for
	// none.
	refuses func(c cell) bool

	// part is whether the kernel is one move of a mix, which leaves the target
	// as it is but may not reach all of it.
	part bool

	// every is on how many states every cell can be afforded; 0 stands for any
	// number. A kernel that draws whole compositions has so many ways to each
	// of them that on larger spaces some of the cells must do.
	every int

	// most is the most states it can be afforded on at all; 0 stands for any
	// number.
	most int
}

var gridKernels = []gridKernel{
	{name: "accelerated", make: shipped("accelerated"), unchecked: mcmc.UncheckedAccelerated},
	{name: "gibbs", make: shipped("gibbs"), unchecked: mcmc.UncheckedGibbs},
	{name: "naive", make: shipped("naive"), every: 56},
	{name: "exact", make: shipped("exact"), every: 84, refuses: func(c cell) bool { return c.scored }},
	{name: "metropolis", make: handOverKernel, part: true},
	{name: "balanced", make: shipped("balanced"), every: 35, most: 126},
	{name: "balanced's line", make: mixed(mcmc.MoveMix{Line: 1}), part: true},
	{name: "balanced's resize", make: mixed(mcmc.MoveMix{Resize: 1}), part: true, every: 84},
	{name: "balanced's refresh", make: mixed(mcmc.MoveMix{Refresh: 1}), every: 20},
	{name: "balanced's recall", make: mixed(mcmc.MoveMix{Recall: 1}), every: 15, most: 35},
	{name: "balanced, taught", make: taught(shipped("balanced")), every: 10, most: 20},
	{name: "balanced's line, taught", make: taught(mixed(mcmc.MoveMix{Line: 1})), part: true},
	{name: "balanced's recall, taught", make: taught(mixed(mcmc.MoveMix{Recall: 1})), every: 10, most: 20},
}

func shipped(name string) func(t *mcmc.Target) (mcmc.Kernel, error) {
	return func(t *mcmc.Target) (mcmc.Kernel, error) { return mcmc.NewKernel(name, t) }
}

func mixed(m mcmc.MoveMix) func(t *mcmc.Target) (mcmc.Kernel, error) {
	return func(t *mcmc.Target) (mcmc.Kernel, error) { return mcmc.NewBalancedMix(t, m) }
}

// taught is a kernel after a warm-up that met ingredients and sizes as unevenly
// as a few states do.
func taught(make func(t *mcmc.Target) (mcmc.Kernel, error)) func(t *mcmc.Target) (mcmc.Kernel, error) {
	return func(t *mcmc.Target) (mcmc.Kernel, error) {
		k, err := make(t)
		return &taughtKernel{Kernel: k, met: someMet(t)}, err
	}
}

type taughtKernel struct {
	mcmc.Kernel
	met    []*mcmc.Composition
	taught *mcmc.State // the last one: a matrix starts each row of it thousands of times
}

func (k *taughtKernel) Advance(r *mcmc.Rand, x *mcmc.State, iterations int, tally *mcmc.Tally) error {
	if x != k.taught {
		mcmc.Teach(x, k.met...)
		k.taught = x
	}
	return k.Kernel.Advance(r, x, iterations, tally)
}

// someMet returns two compositions that might have been met: one of the fewest
// ingredients and one of the most.
func someMet(t *mcmc.Target) []*mcmc.Composition {
	lo, hi := t.Law().Support()
	few, most := make([]mcmc.Part, lo), make([]mcmc.Part, hi)
	for k := range few {
		few[k] = mcmc.Part{Ingredient: k, Amount: 1}
	}
	for k := range most {
		most[k] = mcmc.Part{Ingredient: t.Space().N() - 1 - k, Amount: 1}
	}
	few[0].Amount += t.Space().Total() - lo
	most[len(most)/2].Amount += t.Space().Total() - hi
	first, _ := mcmc.NewComposition(t.Space().N(), few...)
	last, _ := mcmc.NewComposition(t.Space().N(), most...)
	return []*mcmc.Composition{first, last}
}

// handOver is a proposal of a user's own, which is not symmetric: a used
// ingredient gives some of its units, or all, to any other. It is proposed
// with probability 1/(n·(N−1)·x_i).
type handOver struct{}

func (handOver) Propose(r *mcmc.Rand, x, y *mcmc.Composition) (float64, error) {
	if x.N() == 1 {
		return 0, nil
	}
	i := int(x.Ingredients()[r.Intn(x.UsedCount())])
	j := r.Intn(x.N() - 1)
	if j >= i {
		j++
	}
	k := r.Intn(x.Amount(i)) // what i keeps
	if err := y.Move(i, j, k); err != nil {
		return 0, err
	}
	there, back := x.UsedCount()*x.Amount(i), y.UsedCount()*y.Amount(j)
	return math.Log(float64(there) / float64(back)), nil
}

func handOverKernel(t *mcmc.Target) (mcmc.Kernel, error) {
	return mcmc.NewMetropolis("hand over", t, handOver{}), nil
}

// TestGrid computes the transition matrix of every kernel on every target of
// the grid: it leaves the target as it is, is reversible, and either reaches
// everything or is refused. Run it with -v to see the cells.
func TestGrid(t *testing.T) {
	for ingredients := 1; ingredients <= 5; ingredients++ {
		for total := 1; total <= 6; total++ {
			all, err := cells(ingredients, total)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(fmt.Sprintf("N=%d/M=%d", ingredients, total), func(t *testing.T) {
				t.Parallel()
				for index, c := range all {
					if !runs(index) {
						continue
					}
					t.Run(c.name, func(t *testing.T) { testCell(t, c, index) })
				}
			})
		}
	}
}

func testCell(t *testing.T, c cell, index int) {
	e, err := c.law.Enumerate()
	if err != nil {
		t.Skip(err) // the objectives forbid everything
	}
	if testmode.RaceDetector && len(e.States) > 20 || !testmode.Enabled() && len(e.States) > 56 {
		t.Skipf("%d states take too long without KIR_LONG or under the race detector", len(e.States))
	}
	exact, left, refused := []string{}, []string{}, []string{}
	for _, g := range gridKernels {
		if g.refuses != nil && g.refuses(c) {
			if _, err := g.make(c.target); err == nil {
				t.Errorf("%s: it must refuse, and does not", g.name)
			}
			continue
		}
		if g.most > 0 && len(e.States) > g.most || g.every > 0 && len(e.States) > g.every && index%stride(len(e.States)) != 0 {
			left = append(left, g.name)
			continue
		}
		refusal, err := testKernel(c, e, g, uint64(index))
		switch {
		case err != nil:
			t.Errorf("%s: %v", g.name, err)
		case refusal != "":
			refused = append(refused, "refused: "+refusal)
		default:
			exact = append(exact, g.name)
		}
	}
	report := fmt.Sprintf("%d states, exact: %s", len(e.States), strings.Join(exact, ", "))
	if len(left) > 0 {
		report += "; left out: " + strings.Join(left, ", ")
	}
	t.Log(strings.Join(append([]string{report}, refused...), "\n"))
}

// stride returns which share of the cells is run with a kernel that cannot
// afford all. It is prime to the numbers of laws and of lists of wishes, so
// that those that are run go through all of either.
func stride(states int) int {
	switch {
	case states <= 84: // up to N=4 M=6 and N=5 M=4
		return 5
	case states <= 126: // N=5 M=5
		return 23
	}
	return 61
}

// testKernel returns the kernel's refusal, "" if it is valid, and as an error
// what is wrong with either.
func testKernel(c cell, e *stattest.Enumeration, g gridKernel, order uint64) (refused string, _ error) {
	k, refusal := g.make(c.target)
	err := refusal
	if errors.Is(err, mcmc.ErrReducible) && g.unchecked != nil {
		k, err = g.unchecked(c.target), nil
	}
	if err != nil {
		return "", err
	}
	m, err := e.Matrix(c.target, k, stattest.Options{Order: order})
	if err != nil {
		return "", err
	}
	checks := []func() error{m.CheckRows, m.CheckSupport, m.CheckInvariant, m.CheckReversible}
	if !g.part && refusal == nil {
		checks = append(checks, m.CheckIrreducible, m.CheckAperiodic)
	}
	for _, check := range checks {
		if err := check(); err != nil {
			return "", err
		}
	}
	if refusal != nil {
		apart := m.CheckIrreducible()
		if !errors.Is(apart, stattest.ErrIrreducible) {
			return "", fmt.Errorf("it reaches everything, and refuses: %w", refusal)
		}
		return fmt.Sprintf("%v; indeed %v", refusal, apart), nil
	}
	return "", nil
}
