package mcmc

// A Tally counts the outcomes of iterations.
type Tally struct {
	Iterations int64
	Accepted   int64 // accepted candidates, those equal to the state included
	Updated    int64 // iterations that changed the composition

	// Moves counts each move of a kernel that mixes several, in the kernel's
	// order; see [Tally.Of].
	Moves []MoveTally
}

// A MoveTally counts the outcomes of one kind of move.
type MoveTally struct {
	Name                     string
	Tried, Accepted, Updated int64
}

// Of returns the counts of a kernel's moves, in the order of their names, which must differ. It
// adds moves that the tally does not have yet. The slice belongs to the tally and is valid until
// moves are added.
func (t *Tally) Of(names ...string) []MoveTally {
	for from := 0; from+len(names) <= len(t.Moves); from++ {
		if hasNames(t.Moves[from:], names) {
			return t.Moves[from : from+len(names)]
		}
	}
	from := len(t.Moves)
	for _, name := range names {
		t.Moves = append(t.Moves, MoveTally{Name: name})
	}
	return t.Moves[from:]
}

// hasNames reports whether the moves begin with those of the given names.
func hasNames(moves []MoveTally, names []string) bool {
	for k, name := range names {
		if moves[k].Name != name {
			return false
		}
	}
	return true
}

// Add adds another tally. Its moves are matched by their names.
func (t *Tally) Add(u Tally) {
	t.Iterations += u.Iterations
	t.Accepted += u.Accepted
	t.Updated += u.Updated
	for _, m := range u.Moves {
		t.Of(m.Name)[0].add(m)
	}
}

func (t *MoveTally) add(u MoveTally) {
	t.Tried += u.Tried
	t.Accepted += u.Accepted
	t.Updated += u.Updated
}

// An outcome is the result of a move.
type outcome int8

const (
	infeasible outcome = iota // no candidate, or one of density 0
	rejected                  // rejected by the acceptance ratio
	stayed                    // accepted, with the composition unchanged
	updated
)

// accepted reports whether the candidate was accepted.
func (o outcome) accepted() bool { return o >= stayed }

// acceptedOutcome is the outcome of an accepted move.
func acceptedOutcome(yes bool) outcome {
	if yes {
		return updated
	}
	return stayed
}
