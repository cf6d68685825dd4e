package campaign

import (
	"kir/internal/compile"
	"kir/internal/config"
	"kir/mcmc"
)

// Settings say how to choose a batch.
type Settings struct {
	BatchSize         int    // number of recipes in the batch
	Seed              uint64 // seed of all random choices
	MaxNewIngredients int    // maximum number of ingredients in the batch that no tried or pending recipe has; a negative number means no limit
	CostAttribute     string // name of the ingredients' attribute that gives costs; expected gains are divided by costs; empty: no costs

	// AllowedRecipes are the only recipes that may be chosen, each once. A batch may then have fewer
	// recipes than asked for, or none. If AllowedRecipes is nil, every recipe that the problem allows
	// may be chosen.
	AllowedRecipes []AllowedRecipe

	AlikeLimits []config.BatchValueLimit // limits on how many different values of a condition the batch may have

	Workers int    // number of goroutines that a search uses at the same time
	Version string // version of the program
}

// SettingsOf returns the settings that the file of a problem states. The parameter version is the
// version of the program.
func SettingsOf(problem *compile.Problem, version string) Settings {
	return Settings{BatchSize: problem.Campaign.Batch, Seed: problem.Sampler.Seed, MaxNewIngredients: problem.Campaign.MaxNew, CostAttribute: problem.Campaign.Cost, AlikeLimits: problem.Campaign.Alike, Version: version}
}

// An AllowedRecipe is a recipe that may be chosen for a batch.
type AllowedRecipe struct {
	Parts      []mcmc.Part    // ingredients and their amounts in units, sorted by ingredient
	Conditions map[string]any // maps the name of a condition to the value
}
