package diagnose

// DefaultKeptDraws is the number of draws that a [Series] keeps by default. The draws take 2 MB.
const DefaultKeptDraws = 1 << 18

const (
	// minKeptDraws is the minimum number of kept draws that a Series accepts as its limit.
	minKeptDraws = 64
	// maxBatches is the maximum number of batches whose sums a Series keeps. The sums take 64 KB.
	maxBatches = 1 << 13
	// fullBatchChains is the number of chains above which each Series keeps fewer batches.
	fullBatchChains = 64
)

// keptDrawLimit returns the number of draws that a Series keeps if the caller asks for the requested number. The
// result is [DefaultKeptDraws] for 0 or less, and otherwise an even number of at least minKeptDraws.
func keptDrawLimit(requested int) int {
	if requested <= 0 {
		return DefaultKeptDraws
	}
	return min(max(requested, minKeptDraws), 1<<30) &^ 1
}
