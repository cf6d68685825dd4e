package run

import (
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"kir/internal/search"
	"kir/mcmc"
)

// A Spec defines a run: the target distribution, the settings, and what is needed to describe the
// results.
type Spec struct {
	Name                string
	ProblemPath         string      // path of the problem file, absolute or relative to the run's directory; may be empty
	AbsoluteProblemPath string      // absolute path of the problem file, for a run that is moved to another directory without the file; may be empty
	Ingredients         []string    // names of the target's ingredients, in the target's order
	Conditions          []Condition // conditions of the target, in the target's order
	Target              *mcmc.Target
	Settings            mcmc.Settings
	Kernel              mcmc.Kernel   // kernel that a program has built, for a run whose Settings.Kernel is [OwnKernel]; else nil
	TimeLimit           time.Duration // time after which a run of mcmc.AutoDraws stops; 0: never
	ResolvedProblem     []byte        // text of the problem file with every default filled in, to be stored as problem.yaml
	Inputs              []Input       // all files that the problem was read from
	Version             string        // version of the program

	// IsKnownSet reports whether a known recipe has exactly this set of ingredients, given in
	// ascending order. Nil means that there are no known recipes.
	IsKnownSet func(ingredients []int) bool

	// Question says what the search after the chains looks for; nil for no search. The question
	// does not affect the draws.
	Question *search.Question
}

// An Input is a file that the problem was read from.
type Input struct {
	Path   string `json:"path"`   // path as the problem file names it
	SHA256 string `json:"sha256"` // SHA-256 of the file in hexadecimal
	Bytes  int64  `json:"bytes"`
}

// check returns an error if the spec is invalid.
func (s *Spec) check() error {
	switch {
	case s.Target == nil:
		return errors.New("there is no target to run")
	case len(s.Ingredients) != s.Target.Space().N():
		return fmt.Errorf("there are %d names for %d ingredients", len(s.Ingredients), s.Target.Space().N())
	}
	if err := checkSettings(s.Settings); err != nil {
		return err
	}
	if (s.Kernel != nil) != (s.Settings.Kernel == OwnKernel) {
		return fmt.Errorf("a kernel that a program has built needs the setting kernel %q, and this setting needs such a kernel", OwnKernel)
	}
	if s.TimeLimit < 0 {
		return fmt.Errorf("the time is %v, and must be at least 0", s.TimeLimit)
	}
	if err := s.checkBounds(); err != nil {
		return err
	}
	if err := s.checkConditions(); err != nil {
		return err
	}
	for _, w := range s.Target.Objectives() {
		if slices.Contains(reservedColumnNames(), w.Name) {
			return fmt.Errorf("a property cannot be named %q: the file of draws has a column of that name", w.Name)
		}
		if !utf8.ValidString(w.Name) {
			return fmt.Errorf("the property %q is not named in UTF-8", w.Name)
		}
	}
	if c := detectNumberedNames(s.Ingredients); c != nil && utf8.ValidString(c.Prefix) {
		return nil
	}
	seen := make(map[string]bool, len(s.Ingredients))
	for _, name := range s.Ingredients {
		if seen[name] {
			return fmt.Errorf("two ingredients are named %q", name)
		}
		if !utf8.ValidString(name) {
			return fmt.Errorf("the ingredient %q is not named in UTF-8", name)
		}
		seen[name] = true
	}
	return nil
}

// OwnKernel is the name in [mcmc.Settings] of a kernel that a program has built; see Spec.Kernel.
const OwnKernel = "own"

// checkSettings returns an error if a run cannot have the settings.
func checkSettings(s mcmc.Settings) error {
	if s.Kernel == OwnKernel {
		s.Kernel = "" // the other settings are checked
	}
	return s.Check()
}

// sampler returns the sampler of the run's chains.
func (s *Spec) sampler() (mcmc.Sampler, error) {
	if s.Kernel != nil {
		return mcmc.NewKernelSampler(s.Target, s.Kernel)
	}
	return s.Settings.Sampler(s.Target)
}

// hasObjectives reports whether a property has a positive weight.
func (s *Spec) hasObjectives() bool {
	return slices.ContainsFunc(s.Target.Objectives(), func(w mcmc.Objective) bool { return w.Weight > 0 })
}

// propertyNames returns the names of the objectives.
func (s *Spec) propertyNames() []string {
	names := make([]string, len(s.Target.Objectives()))
	for k, w := range s.Target.Objectives() {
		names[k] = w.Name
	}
	return names
}

// segmentIterations is the approximate number of iterations in a segment of a chain. At the start
// of each segment the scores of the current composition are computed anew, with other rounding
// errors. So a change of segmentIterations changes the draws of runs.
const segmentIterations = 1 << 10

// segmentDraws returns the number of draws in a segment of a chain.
func segmentDraws(s *mcmc.Settings) int { return max(1, segmentIterations/s.Thin) }
