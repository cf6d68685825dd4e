// Package problem reads a problem file: what to choose from, how much of it,
// and what is wished for. It turns the file into a target that can be sampled
// and the settings to sample it with, and it is where all input is checked:
// what is wrong comes back as a [fault.Error] with file, line and column.
//
// The file is YAML. Paths in it are relative to it.
//
//	name: Fresh all-day cocktails
//	recipes: recipes.csv
//	ingredients: ingredients.csv
//	total: 1000
//	sparsity: recipes
//	properties:
//	  taste: {forest: {label: taste, want: Fresh}}
//	sampler: {chains: 4, draws: 100000, seed: 1}
//
// total is always needed, and recipes or ingredients; all else has a default.
package problem

import (
	"errors"
	"io"
	"time"

	"kir/internal/book"
	"kir/internal/problem/yaml"
	"kir/mcmc"
)

// A Problem is a problem file that was read and checked, with all that it
// names.
type Problem struct {
	Name        string
	File        string  // the path it was read from
	Inputs      []Input // every file that was read, the problem file first
	Ingredients []string
	Total       int        // M, in units
	Book        *book.Book // the known recipes; nil if there are none
	Properties  []Property // in the file's order
	Rules       []Rule     // in the file's order
	Labels      []string   // that the file names by themselves
	Target      *mcmc.Target
	Sampler     mcmc.Settings
	Time        time.Duration // after which a run of mcmc.AutoDraws stops; 0: never
	Auto        bool          // the sampler's kernel was chosen, not named
	Search      Search
	Campaign    Campaign
	Trade       []string // the objectives of the trade-off that the file asks for; nil: none
	Resolved    []byte   // the file with every default written out, as YAML
	Warnings    []string // what is allowed and yet worth knowing

	attributes *book.Ingredients // nil if the ingredients are only counted
	recipes    [][]mcmc.Part     // those of the book, closed to the total
	units      *book.Units       // of the recipes; nil: the usual ones
	results    *book.Results     // of the campaign; nil if there are none
	sureLimits []sureLimit       // limits of probabilities, in the file's order
	law        mcmc.Sparsity     // of n, as the file asks for it
	lawNode    *yaml.Node        // where it does
	limits     []*shownLimit     // of properties, in the order of the target's bounds
}

// An Input is a file that a problem was read from.
type Input struct {
	Path   string `json:"path"`   // as the problem names it; the problem file itself by its base name
	SHA256 string `json:"sha256"` // hexadecimal
	Bytes  int64  `json:"bytes"`
}

// Results returns the results of the problem's campaign, nil if there is no file of
// them. Those that hold, see [book.Results.Current], are the last recipes of the book.
func (p *Problem) Results() *book.Results { return p.results }

// Attributes returns the ingredients with what is known of them; nil if they are only
// counted.
func (p *Problem) Attributes() *book.Ingredients { return p.attributes }

// Close ends what the properties have running: other programs. The target cannot
// be scored after it.
func (p *Problem) Close() error {
	var errs []error
	for _, w := range p.Properties {
		if c, ok := w.property.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// Commands returns the commands that the problem's properties run, with the user's
// rights.
func (p *Problem) Commands() (commands []*Command) {
	for _, w := range p.Properties {
		if w.command != nil {
			commands = append(commands, w.command)
		}
	}
	return commands
}

// RunsPrograms says whether a property is scored by a program, which runs with the
// user's rights and is not to be started by looking at a problem.
func (p *Problem) RunsPrograms() bool { return len(p.Commands()) > 0 }
