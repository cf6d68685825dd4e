// Package cocktails holds the cocktail book of the example, so that the paper's
// experiment can be run from anywhere.
package cocktails

import _ "embed"

// Recipes is recipes.csv.
//
//go:embed recipes.csv
var Recipes string
