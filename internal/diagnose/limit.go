package diagnose

// DefaultLimit is how many draws of a chain a stream keeps by
// default: 2 MB for a Series.
const DefaultLimit = 1 << 18

const (
	// leastLimit is the smallest limit of a stream.
	leastLimit = 64
	// maxBatches is the largest number of batches of a stream: 64 KB in a Series.
	maxBatches = 1 << 13
	// manyChains is from how many chains on each keeps less.
	manyChains = 64
)

// streamLimit returns the limit that a stream uses when it is asked for one.
func streamLimit(limit int) int {
	if limit <= 0 {
		return DefaultLimit
	}
	return min(max(limit, leastLimit), 1<<30) &^ 1
}
