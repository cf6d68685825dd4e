package campaign

import (
	"kir/internal/compile"
	"kir/internal/config"
	"kir/mcmc"
)

// Settings say how a batch is chosen.
type Settings struct {
	Size   int    // recipes
	Seed   uint64 // of all random choices
	MaxNew int    // greatest number of ingredients that no trial has; below 0: no limit
	Cost   string // attribute with the costs of ingredients; improvement is then per cost; empty: not

	// AllowedRecipes are the only recipes that may be chosen. nil allows every recipe that the
	// problem allows.
	AllowedRecipes []AllowedRecipe

	Alike []config.Alike // conditions of which a batch has few values

	Workers int
	Version string // of the program
}

// SettingsOf returns the settings that a problem states, for a version of the program.
func SettingsOf(p *compile.Problem, version string) Settings {
	return Settings{Size: p.Campaign.Batch, Seed: p.Sampler.Seed, MaxNew: p.Campaign.MaxNew, Cost: p.Campaign.Cost, Alike: p.Campaign.Alike, Version: version}
}

// An AllowedRecipe is a recipe that may be chosen, with the values of its conditions by name.
type AllowedRecipe struct {
	Parts      []mcmc.Part // sorted by ingredient
	Conditions map[string]any
}
