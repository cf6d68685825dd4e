package serve

import (
	"sync"

	"kir/internal/report"
	"kir/internal/report/figure"
)

// A palette assigns colours to ingredients and to groups of ingredients. An ingredient or group
// keeps its colour across all steps while the page is served. Two ingredients, or two groups, never
// share an assignment. The lock of a palette may be taken while any other lock is held.
type palette struct {
	mu                              sync.Mutex
	ingredientPalette, groupPalette figure.Palette[int]
}

// addShortlist assigns colours to all ingredients of the shortlist's recipes.
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

// ingredientColours returns the number of the colour of each ingredient, by name.
func (p *palette) ingredientColours() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	colours := make(map[string]int)
	for name, paint := range p.ingredientPalette.Paints() {
		colours[name] = paint.Index()
	}
	return colours
}

// groupColours returns the number of the colour of each group, by index of the group. A new group
// gets a colour first.
func (p *palette) groupColours(g *ingredientGroups) []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, value := range g.values {
		p.groupPalette.Add([]map[string]int{{value: 1}})
	}
	paints := p.groupPalette.Paints()
	colours := make([]int, len(g.values))
	for k, value := range g.values {
		colours[k] = paints[value].Index()
	}
	return colours
}
