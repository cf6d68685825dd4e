package mcmc

// A Tally counts the iterations of a chain by their outcome.
type Tally struct {
	Iterations int64
	Accepted   int64 // number of iterations whose candidate was accepted, even if it equals the current composition
	Updated    int64 // number of iterations that changed the composition

	// Moves holds the counts of each kind of move, in the order of the kernel's moves. Only a
	// kernel with several kinds of move fills it; see [Tally.MovesNamed].
	Moves []MoveTally
}

// A MoveTally counts how often one kind of move was tried, how often it was accepted, and how often
// it changed the composition.
type MoveTally struct {
	Name                     string
	Tried, Accepted, Updated int64
}

// MovesNamed returns the counts of the moves with the given names, in the order of the names. The
// names must differ. Moves that the tally does not contain yet are added. The slice belongs to the
// tally and is valid until further moves are added.
func (t *Tally) MovesNamed(names ...string) []MoveTally {
	for from := 0; from+len(names) <= len(t.Moves); from++ {
		if beginsWithNames(t.Moves[from:], names) {
			return t.Moves[from : from+len(names)]
		}
	}
	from := len(t.Moves)
	for _, name := range names {
		t.Moves = append(t.Moves, MoveTally{Name: name})
	}
	return t.Moves[from:]
}

// beginsWithNames reports whether the first moves have the given names, in the same order.
func beginsWithNames(moves []MoveTally, names []string) bool {
	for k, name := range names {
		if moves[k].Name != name {
			return false
		}
	}
	return true
}

// Add adds the counts of u to t. The counts of moves with the same name are added up.
func (t *Tally) Add(u Tally) {
	t.Iterations += u.Iterations
	t.Accepted += u.Accepted
	t.Updated += u.Updated
	for _, m := range u.Moves {
		t.MovesNamed(m.Name)[0].add(m)
	}
}

func (t *MoveTally) add(u MoveTally) {
	t.Tried += u.Tried
	t.Accepted += u.Accepted
	t.Updated += u.Updated
}

// A moveOutcome says how a move ended, such as outcomeRejected.
type moveOutcome int8

const (
	outcomeInfeasible moveOutcome = iota // there was no candidate, or its density is 0
	outcomeRejected                      // the candidate was rejected by the acceptance ratio
	outcomeUnchanged                     // the candidate was accepted and equals the current composition
	outcomeUpdated                       // the candidate was accepted and changed the composition
)

// isAccepted reports whether the candidate of the move was accepted.
func (o moveOutcome) isAccepted() bool { return o >= outcomeUnchanged }

// acceptedOutcome returns the outcome of an accepted move, which may have changed the composition
// or not.
func acceptedOutcome(changed bool) moveOutcome {
	if changed {
		return outcomeUpdated
	}
	return outcomeUnchanged
}
