// Package compile compiles a problem file and its tables, by named steps, to a [Problem]: a target that can be sampled and
// the settings to sample it with. It counts the compositions that the constraints allow and learns the models. It also
// validates all input: every error is an [inputerr.Error] with file, line and column.
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
// A problem must have total, and recipes or ingredients. All other keys have defaults.
package compile

import (
	"errors"
	"io"
	"time"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/mcmc"
)

// A Problem is a problem file that was read and checked, with the files that it names.
type Problem struct {
	Name        string
	File        string  // path of the file
	Inputs      []Input // every file that was read, the problem file first
	Ingredients []string
	Total       int           // M, in units
	Book        *dataset.Book // the known recipes; nil if there are none
	Properties  []Property    // in the file's order
	Conditions  []Condition   // what a trial sets beside the recipe, in the file's order
	Rules       []Rule        // that hold whatever the conditions are, in the file's order
	TiedRules   []Rule        // that depend on conditions, in the file's order
	Labels      []string      // labels listed in the file's key labels
	Target      *mcmc.Target
	Sampler     mcmc.Settings
	Time        time.Duration // time limit of a run with mcmc.AutoDraws; 0: none
	Auto        bool          // the kernel was chosen automatically
	Search      config.Search
	Campaign    config.Campaign
	Trade       []string // objectives of the trade-off that the file asks for; nil: none
	Resolved    []byte   // the file with every default written out, as YAML
	Warnings    []string // notes about input that is valid

	file           *config.Problem // as it is written; nil for the problem of a target
	conditionTable *conditionTable // what conditions the recipes had; nil without conditions

	attributes  *dataset.Ingredients // nil if the ingredients are only counted
	recipes     [][]mcmc.Part        // recipes of the book, closed to the total
	units       *dataset.Units       // units of the recipes; nil: default units
	results     *dataset.Results     // results of the campaign; nil if there are none
	sureLimits  []sureLimit          // limits of probabilities, in the file's order
	resultsPath string               // path of the results, if the file does not name it
	law         mcmc.Sparsity        // law of n, as in the file
	lawNode     *yaml.Node           // node of that law
	limits      []*shownLimit        // limits of properties, in the order of the target's bounds
}

// An Input is a file from which a problem was read.
type Input struct {
	Path   string `json:"path"`   // as the problem names it; base name of the problem file
	SHA256 string `json:"sha256"` // hexadecimal
	Bytes  int64  `json:"bytes"`
}

// Results returns the results of the problem's campaign, or nil if there is no results file. The current
// ones (see [dataset.Results.Current]) are the last recipes of the book.
func (p *Problem) Results() *dataset.Results { return p.results }

// Attributes returns the ingredients with their attributes, or nil if they are only counted.
func (p *Problem) Attributes() *dataset.Ingredients { return p.attributes }

// Close stops the programs that properties have started. Afterwards the target must not be scored.
func (p *Problem) Close() error {
	var errs []error
	for _, w := range p.Properties {
		if c, ok := w.property.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// Commands returns the commands that the problem's properties run with the user's rights.
func (p *Problem) Commands() (commands []*Command) {
	for _, w := range p.Properties {
		if w.command != nil {
			commands = append(commands, w.command)
		}
	}
	return commands
}

// RunsPrograms reports whether a program scores a property. It runs with the user's rights, so displaying a
// problem must not start it.
func (p *Problem) RunsPrograms() bool { return len(p.Commands()) > 0 }
