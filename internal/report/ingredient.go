package report

// Pairs lists pairs of ingredients that occur together in draws more often or less often than
// expected.
type Pairs struct {
	Among    int    `json:"among"`    // number of ingredients, the most frequent ones, of which all pairs were examined
	Draws    int    `json:"draws"`    // number of draws examined
	Together []Pair `json:"together"` // pairs used together more often than expected, the most certain first
	Apart    []Pair `json:"apart"`    // pairs used together less often than expected, the most certain first
}

// A Pair is two ingredients with their lift, the ratio P(both)/(P(first)·P(second)) of
// probabilities in the draws.
type Pair struct {
	First       string `json:"first"`
	Second      string `json:"second"`
	Probability Number `json:"probability"` // share of the draws that use both ingredients
	Lift        Number `json:"lift"`
	MCSE        Number `json:"mcse"` // Monte Carlo standard error of Lift

	// Expected is the lift that two ingredients of these frequencies would have if they neither
	// attracted nor avoided each other. It differs from 1 because ingredients compete for the
	// limited number of places in a composition.
	Expected Number `json:"expected"`
}
