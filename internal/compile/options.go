package compile

import (
	"time"

	"kir/mcmc"
)

// Options control how a problem is read.
type Options struct {
	// Override changes the sampler settings of the file, as command-line flags do. It may be nil.
	Override func(*mcmc.Settings)

	// Time replaces the file's time limit for a run with mcmc.AutoDraws, as a flag does. nil keeps the
	// file's; 0 means none.
	Time *time.Duration

	// Text replaces the contents of the file, which then need not exist.
	Text []byte

	// Allow returns an error for a path that must not be opened; nil allows all. It gets the path that
	// would be opened.
	Allow func(path string) error

	// ModelCache keeps learnt models from one reading to the next. It may be nil.
	ModelCache *ModelCache

	// Campaign reads a problem for its campaign. Properties to learn are described in [Property.Learning].
	// They are not learnt and are no objectives of the target, and their labels need not have values yet.
	Campaign bool

	// WithinBook adds a rule that keeps the amounts of all ingredients within those of the known recipes,
	// to try its effect.
	WithinBook bool

	// Effort replaces the file's effort of the search; nil keeps it.
	Effort *float64

	// Workers is the number of goroutines that grow forests; 0 means all cores. It changes only the time.
	Workers int

	// Cache stores counts that take long in a directory beside the problem, and reads them from there.
	Cache bool

	// Progress receives a description whenever a step begins that may take long. It may be nil.
	Progress func(what string)

	// Notify receives messages for the user while the problem is sampled, such as that a program was
	// restarted. The run continues. It may be called from several goroutines, and may be nil.
	Notify func(message string)
}
