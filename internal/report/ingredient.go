package report

// Pairs says which ingredients go together.
type Pairs struct {
	Among    int    `json:"among"`    // ingredients looked at, the most frequent ones
	Draws    int    `json:"draws"`    // draws looked at
	Together []Pair `json:"together"` // used together more often than expected, the surest first
	Apart    []Pair `json:"apart"`    // less often
}

// A Pair is two ingredients and their lift, P(both)/(P(first)·P(second)).
type Pair struct {
	First       string `json:"first"`
	Second      string `json:"second"`
	Probability Number `json:"probability"` // that both are used
	Lift        Number `json:"lift"`
	MCSE        Number `json:"mcse"` // of the lift

	// Expected is the lift if all that ingredients had to do with each other was
	// that they compete for places in a composition.
	Expected Number `json:"expected"`
}
