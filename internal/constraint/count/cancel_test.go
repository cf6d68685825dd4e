package count

import (
	"context"
	"errors"
	"testing"
)

// A lookedAt is a context that ends for one look at it.
type lookedAt struct {
	context.Context
	looks, ends int // how often it was looked at, and the look that it ends for
}

func (c *lookedAt) Err() error {
	c.looks++
	if c.looks == c.ends {
		return context.Canceled
	}
	return nil
}

// Whichever look at the context tells that it has ended, in the middle of a count
// too, counting ends with its error; and there are looks all the way.
func TestCancelledAtEachLook(t *testing.T) {
	groups := middling()
	groups.Ingredients, groups.Total = groups.Ingredients[:25], 30
	groups.Groups = []Group{
		{Members: []int{0, 1, 2, 3, 4, 5}, Used: &Range{1, 3}},
		{Members: []int{6, 7, 8, 9, 10, 11, 12}, Total: &Range{0, 20}},
		{Members: []int{6, 7, 8}, Used: &Range{0, 2}, Total: &Range{0, 12}},
	}
	plain := Space{Total: 30, Ingredients: groups.Ingredients}
	for name, c := range map[string]struct {
		space Space
		least int // looks
	}{"classes": {plain, 10}, "groups": {groups, 10}, "groups that cross": {crossing(10, 12, 3, 4, true), 8}} {
		options := Options{MaxUsed: 5, Workers: 1}
		for what, do := range map[string]func(ctx context.Context) error{
			"a count": func(ctx context.Context) error {
				_, err := New(ctx, c.space, options)
				return err
			},
			"a sampler": func(ctx context.Context) error {
				table, err := New(context.Background(), c.space, options)
				if err == nil {
					_, err = table.Sampler(ctx)
				}
				return err
			},
			"what can be reached": func(ctx context.Context) error {
				_, _, err := ReachableUsedCounts(ctx, c.space, 5)
				return err
			},
		} {
			ends := 1
			for ; ends < 1000; ends++ {
				ctx := &lookedAt{Context: context.Background(), ends: ends}
				err := do(ctx)
				if ctx.looks < ends {
					if err != nil {
						t.Fatalf("%s, %s: %v", name, what, err)
					}
					break // it never looks as often
				}
				if !errors.Is(err, context.Canceled) {
					t.Errorf("%s, %s: cancelled at look %d it returns %v", name, what, ends, err)
				}
			}
			if ends-1 < c.least {
				t.Errorf("%s, %s: there are %d looks at the context", name, what, ends-1)
			}
		}
	}
}
