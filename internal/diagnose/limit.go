package diagnose

// DefaultLimit is how many draws a [Series] keeps by default, which take 2 MB.
const DefaultLimit = 1 << 18

const (
	// leastLimit is the smallest number of kept draws that a Series accepts as its limit.
	leastLimit = 64
	// maxBatches is the greatest number of batch sums that a Series keeps, which take 64 KB.
	maxBatches = 1 << 13
	// manyChains is the number of chains above which each Series keeps fewer batches.
	manyChains = 64
)

// streamLimit returns the limit to use for a requested one: DefaultLimit for 0 or less, else an even number of at
// least leastLimit.
func streamLimit(limit int) int {
	if limit <= 0 {
		return DefaultLimit
	}
	return min(max(limit, leastLimit), 1<<30) &^ 1
}
