package compile

import (
	"time"

	"kir/mcmc"
)

// Options control how a problem is read.
type Options struct {
	// OverrideSampler changes the settings of the sampler that the file gives, as command-line flags do. It may
	// be nil.
	OverrideSampler func(*mcmc.Settings)

	// Time replaces the time limit of the file. It applies to runs with mcmc.AutoDraws. A limit of 0 means no
	// limit, and nil keeps the limit of the file.
	Time *time.Duration

	// Text replaces the contents of the problem file. The file then need not exist. If Text is nil, the file is
	// read.
	Text []byte

	// Allow returns an error if the file at a path must not be opened. The path is the one that would be
	// opened. A nil Allow allows all files.
	Allow func(path string) error

	// ModelCache keeps learnt models for later readings. It may be nil.
	ModelCache *ModelCache

	// Campaign tells that the problem is read for its campaign. Properties that learn a label then only
	// describe what to learn, in [Property.Learning]. The target does not have them as objectives, and their
	// labels need not have values yet.
	Campaign bool

	// AddWithinBook adds a rule: the amount of every ingredient must be within the range of amounts that the
	// ingredient has in the known recipes.
	AddWithinBook bool

	// Effort replaces the effort of the search that the file gives. nil keeps the effort of the file.
	Effort *float64

	// Workers is the number of goroutines that grow forests. 0 means all cores. It does not affect results.
	Workers int

	// CacheCounts stores numbers of compositions that take long to compute, in a directory next to the problem
	// file. It also reads stored numbers from there.
	CacheCounts bool

	// Progress receives a description of each step that may take long, when the step begins. It may be nil.
	Progress func(what string)

	// Notify receives messages for the user while the problem is sampled, for example that a program was
	// restarted. The run continues after a message. Notify may be nil. It may be called from several goroutines
	// at once.
	Notify func(message string)
}
