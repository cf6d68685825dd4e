package diagnose

// DefaultKeptDraws is the number of draws that a [Series] keeps by default. The draws take 2 MB.
const DefaultKeptDraws = 1 << 18

const (
	// minLimit is the minimum number of kept draws that a Series accepts as its limit.
	minLimit = 64
	// maxBatches is the maximum number of batch sums that a Series keeps. The sums take 64 KB.
	maxBatches = 1 << 13
	// manyChains is the number of chains above which each Series keeps fewer batches.
	manyChains = 64
)

// streamLimit returns the limit to use for a requested limit. The result is DefaultLimit for 0 or less, and
// otherwise an even number of at least minLimit.
func streamLimit(limit int) int {
	if limit <= 0 {
		return DefaultKeptDraws
	}
	return min(max(limit, minLimit), 1<<30) &^ 1
}
