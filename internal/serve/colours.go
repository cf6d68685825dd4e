package serve

import (
	"sync"

	"kir/internal/report"
	"kir/internal/report/figure"
)

// A palette assigns colours to ingredients and to groups of ingredients. An ingredient or a group
// keeps its colour in all steps while the page is served. Code that holds any other lock may still
// take the lock of a palette.
type palette struct {
	mu                sync.Mutex
	ingredientPalette figure.Palette[int] // colours of ingredients
	groupPalette      figure.Palette[int] // colours of groups of ingredients
}

// addShortlist assigns colours to all ingredients of the recipes in a shortlist.
func (p *palette) addShortlist(list []report.Best) {
	var recipes []map[string]int
	for _, b := range list {
		recipes = append(recipes, b.Recipe)
	}
	p.addRecipes(recipes...)
}

// addRecipes assigns colours to all ingredients of the recipes.
func (p *palette) addRecipes(recipes ...map[string]int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ingredientPalette.Add(recipes)
}

// ingredientColours returns a map from the name of each ingredient to the number of its colour.
func (p *palette) ingredientColours() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	colours := make(map[string]int)
	for name, paint := range p.ingredientPalette.Paints() {
		colours[name] = paint.Index()
	}
	return colours
}

// groupColours returns the number of the colour of each group, by index of the group. It first
// assigns a colour to each new group.
func (p *palette) groupColours(groups *ingredientGroups) []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, value := range groups.values {
		p.groupPalette.Add([]map[string]int{{value: 1}})
	}
	paints := p.groupPalette.Paints()
	colours := make([]int, len(groups.values))
	for k, value := range groups.values {
		colours[k] = paints[value].Index()
	}
	return colours
}
