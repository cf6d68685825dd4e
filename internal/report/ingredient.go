package report

// Pairs lists pairs of ingredients that occur together in draws more often or less often than
// expected.
type Pairs struct {
	Among    int    `json:"among"`    // number of ingredients that were paired, the most frequent ones
	Draws    int    `json:"draws"`    // number of draws looked at
	Together []Pair `json:"together"` // pairs used together more often than expected, the surest first
	Apart    []Pair `json:"apart"`    // pairs used together less often than expected, the surest first
}

// A Pair is two ingredients with their lift, P(both)/(P(first)·P(second)).
type Pair struct {
	First       string `json:"first"`
	Second      string `json:"second"`
	Probability Number `json:"probability"` // share of the draws that use both ingredients
	Lift        Number `json:"lift"`
	MCSE        Number `json:"mcse"` // standard error of the lift

	// Expected is the lift if ingredients interact only because they compete for the places in a
	// composition.
	Expected Number `json:"expected"`
}
