package report

// Pairs lists the ingredients that occur together more or less often than expected.
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

	// Expected is the lift that follows if ingredients interact only by competing for places in a
	// composition.
	Expected Number `json:"expected"`
}
