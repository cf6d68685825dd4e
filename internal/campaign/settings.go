package campaign

import (
	"kir/internal/compile"
	"kir/internal/config"
	"kir/mcmc"
)

// Settings say how a batch is chosen.
type Settings struct {
	BatchSize         int    // number of recipes in the batch
	Seed              uint64 // seed of all random choices
	MaxNewIngredients int    // maximum number of ingredients in the batch that no tried or pending recipe has; below 0: no limit
	CostAttribute     string // name of the attribute with the costs of ingredients, by which gains are divided; empty: no costs

	// AllowedRecipes are the only recipes that may be chosen. nil allows every recipe that the
	// problem allows.
	AllowedRecipes []AllowedRecipe

	AlikeLimits []config.BatchValueLimit // limits on the number of different values of a condition in the batch

	Workers int    // number of concurrent workers of a search
	Version string // version of the program
}

// SettingsOf returns the settings that the problem file states. The parameter version is the
// version of the program.
func SettingsOf(p *compile.Problem, version string) Settings {
	return Settings{BatchSize: p.Campaign.Batch, Seed: p.Sampler.Seed, MaxNewIngredients: p.Campaign.MaxNew, CostAttribute: p.Campaign.Cost, AlikeLimits: p.Campaign.Alike, Version: version}
}

// An AllowedRecipe is a recipe that a batch may choose.
type AllowedRecipe struct {
	Parts      []mcmc.Part    // ingredients and their amounts in units, sorted by ingredient
	Conditions map[string]any // by name of the condition: the value
}
