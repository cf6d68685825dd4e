package report

// A Plot holds the data of the rank plot and the trace plot of a statistic.
type Plot struct {
	Name string `json:"name"` // name of the statistic

	// Ranks shows whether chains agree (Vehtari et al. 2021, section 4.2). The draws of all chains
	// are ranked together, and the ranks are divided into 20 bins. Ranks[c][b] is the share of the
	// draws of chain c whose ranks are in bin b. All shares are about 1/20 if the chains have the
	// same distribution. Draws of equal value share their ranks evenly.
	Ranks  [][]Number `json:"ranks"`
	RankSE Number     `json:"rank_se"` // standard error of a share in Ranks

	// Trace[c] holds evenly spaced draws of chain c, beginning with the first draw.
	Trace [][]Number `json:"trace"`
	Every int        `json:"every"` // number of draws from one item of Trace[c] to the next
}

// A Histogram compares the distribution of the scores of the draws with that of random
// compositions.
type Histogram struct {
	Log    bool     `json:"log"`    // whether Edges holds decimal logarithms of scores
	Edges  []Number `json:"edges"`  // edges of the bins in ascending order; bin b lies between Edges[b] and Edges[b+1]
	Draws  []Number `json:"draws"`  // item b is the share of the draws in bin b
	Random []Number `json:"random"` // item b is the share of the random compositions in bin b
	// share of the draws with a score below the first edge, mostly a score of 0
	DrawsBelow  Number `json:"draws_below"`
	RandomBelow Number `json:"random_below"` // share of the random compositions with a score below the first edge
	DrawCount   int    `json:"looked"`       // number of draws in the histogram
}
