package compile

import (
	"time"

	"kir/mcmc"
)

// Options control how a problem is read.
type Options struct {
	// OverrideSampler changes the sampler settings of the file, as command-line flags do. It may be nil.
	OverrideSampler func(*mcmc.Settings)

	// Time replaces the time limit in the file, for a run with mcmc.AutoDraws. 0 means no limit. nil keeps
	// the limit in the file.
	Time *time.Duration

	// Text replaces the contents of the problem file, which then need not exist. nil reads the file.
	Text []byte

	// Allow returns an error if the file at a path must not be opened. nil allows all files. The path is the
	// one that would be opened.
	Allow func(path string) error

	// ModelCache keeps learnt models for later readings. It may be nil.
	ModelCache *ModelCache

	// Campaign tells that the problem is read for its campaign. Properties that learn a label are then
	// described in [Property.Learning] and not learnt. They are no objectives of the target, and their labels
	// need not have values yet.
	Campaign bool

	// AddWithinBook adds a rule that keeps the amount of every ingredient within the range of its amounts in the
	// known recipes.
	AddWithinBook bool

	// Effort replaces the effort of the search that the file asks for. nil keeps it.
	Effort *float64

	// Workers is the number of goroutines that grow forests. 0 means all cores. It does not affect results.
	Workers int

	// CacheCounts stores counts of compositions that take long to compute in a directory next to the problem file,
	// and reads counts from there.
	CacheCounts bool

	// Progress receives a description of each step that begins and may take long. It may be nil.
	Progress func(what string)

	// Notify receives messages for the user while the problem is sampled, such as that a program was
	// restarted. The run continues after a message. Notify may be nil, and may be called from several
	// goroutines.
	Notify func(message string)
}
