package kir

// A Tally counts what iterations did.
type Tally struct {
	Iterations int64
	Accepted   int64 // candidates taken, those equal to the state among them
	Updated    int64 // iterations after which the composition was another

	// Moves counts each move of a kernel that mixes several, in the kernel's
	// order; see [BalancedMoves].
	Moves [moveCount]MoveTally
}

// Add adds another tally.
func (t *Tally) Add(u Tally) {
	t.Iterations += u.Iterations
	t.Accepted += u.Accepted
	t.Updated += u.Updated
	for k, m := range u.Moves {
		t.Moves[k].add(m)
	}
}

// A MoveTally counts what one kind of move did.
type MoveTally struct {
	Tried, Accepted, Updated int64
}

func (t *MoveTally) add(u MoveTally) {
	t.Tried += u.Tried
	t.Accepted += u.Accepted
	t.Updated += u.Updated
}
