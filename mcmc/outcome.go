package mcmc

// An outcome is what became of a move.
type outcome int8

const (
	barred   outcome = iota // there was no candidate, or one whose score is 0
	rejected                // by the ratio
	stayed                  // accepted, and the composition is the same
	updated
)

// accepted says whether the candidate was.
func (o outcome) accepted() bool { return o >= stayed }

// changed is the outcome of an accepted move.
func changed(yes bool) outcome {
	if yes {
		return updated
	}
	return stayed
}
