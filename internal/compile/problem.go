// Package compile compiles a problem file and its tables, by named steps, to a [Problem]: a target that can be
// sampled, with the settings of the sampler. It counts the compositions that the constraints allow and learns
// the models. It also validates all input: every error is an [inputerr.Error] with file, line and column.
//
// The problem file is YAML. Paths in it are relative to the directory of the file.
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
	"kir/internal/measure"
	"kir/mcmc"
)

// A Problem is a problem file that was read and checked, together with the files that it names.
type Problem struct {
	Name         string
	File         string  // path of the file
	Inputs       []Input // all files that were read for the problem, the problem file first
	Ingredients  []string
	Total        int           // M: the total of every composition, in units
	Book         *dataset.Book // the known recipes; nil if there are none
	Properties   []Property    // objectives, and properties whose values are limited, in the order of the file
	Conditions   []Condition   // quantities that a trial sets in addition to the recipe, such as a temperature; in the order of the file
	Rules        []Rule        // rules that hold for all values of the conditions, in the order of the file
	TiedRules    []Rule        // rules that hold only for some values of the conditions, in the order of the file
	Labels       []string      // names of labels that the file lists under the key labels
	Target       *mcmc.Target
	Sampler      mcmc.Settings
	Time         time.Duration // time limit of a run with mcmc.AutoDraws; 0 means no limit
	KernelChosen bool          // whether the kernel was chosen automatically
	Search       config.Search
	Campaign     config.Campaign
	Trade        []string // names of the objectives of the trade-off that the file asks for; nil if it asks for none
	Resolved     []byte   // the problem file in YAML, with every default written out
	Warnings     []string // sentences about valid input that may not be intended

	fileProblem    *config.Problem // the decoded problem file; nil for the problem of a target made by Go code
	conditionTable *conditionTable // values of the conditions in the known recipes; nil if the problem has no conditions

	attributes        *dataset.Ingredients // ingredients with their attributes; nil if the file gives only the number of ingredients
	scaledRecipes     [][]mcmc.Part        // known recipes, scaled to the total in whole units
	units             *measure.Units       // units of amounts in the recipes; nil means default units
	results           *dataset.Results     // recorded results of the campaign; nil if there are none
	probabilityLimits []probabilityLimit   // rules that require a minimum probability of a measurement, in the order of the file
	resultsPath       string               // path of the results file, if the problem file does not name it
	sparsityLaw       mcmc.Sparsity        // distribution of the number of ingredients (sparsity law)
	sparsityNode      *yaml.Node           // YAML node of the sparsity law
	shownLimits       []*shownLimit        // limits of predictions, in the order of the bounds of the target
}

// An Input is a file that was read for a problem.
type Input struct {
	Path   string `json:"path"`   // path as the problem file writes it; for the problem file, its base name
	SHA256 string `json:"sha256"` // SHA-256 of the contents, in hexadecimal
	Bytes  int64  `json:"bytes"`
}

// Results returns the recorded results of the problem's campaign, or nil if there is no results file. The
// current results (see [dataset.Results.CurrentEntries]) are the last recipes of the problem's book of recipes.
func (p *Problem) Results() *dataset.Results { return p.results }

// Attributes returns the ingredients with their attributes. It returns nil if the file gives only the number
// of ingredients.
func (p *Problem) Attributes() *dataset.Ingredients { return p.attributes }

// Close stops the programs that properties have started. The target must not be scored after Close.
func (p *Problem) Close() error {
	var errs []error
	for _, w := range p.Properties {
		if c, ok := w.mcmcProperty.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// Commands returns the commands that the properties of the problem run with the rights of the user.
func (p *Problem) Commands() (commands []*Command) {
	for _, w := range p.Properties {
		if w.command != nil {
			commands = append(commands, w.command)
		}
	}
	return commands
}

// RunsPrograms reports whether an external program scores a property. The program runs with the rights of the
// user, so displaying a problem must not start it.
func (p *Problem) RunsPrograms() bool { return len(p.Commands()) > 0 }
