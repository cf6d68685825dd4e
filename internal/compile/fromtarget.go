package compile

import (
	"errors"
	"fmt"

	"kir/internal/config"
	"kir/mcmc"
)

// FromTarget returns a problem whose target was made by Go code. The problem has default settings, and the
// effort of its search is 1. If no names of ingredients are given, the names are 0, 1, 2 and so on.
func FromTarget(name string, target *mcmc.Target, ingredients ...string) (*Problem, error) {
	if target == nil {
		return nil, errors.New("there is no target")
	}
	n := target.Space().N()
	if len(ingredients) == 0 {
		ingredients = make([]string, n)
		for i := range ingredients {
			ingredients[i] = fmt.Sprint(i)
		}
	}
	if len(ingredients) != n {
		return nil, fmt.Errorf("there are %d names for %d ingredients", len(ingredients), n)
	}
	p := &Problem{Name: name, Ingredients: ingredients, Total: target.Space().Total(), Target: target, Sampler: mcmc.DefaultSettings(), Time: DefaultTime, KernelChosen: true, Search: config.Search{Effort: 1}}
	for _, w := range target.Objectives() {
		p.Properties = append(p.Properties, Property{Name: w.Name, Kind: "function", Weight: w.Weight, About: "a function of the program's own", mcmcProperty: w.Property})
	}
	return p, nil
}
