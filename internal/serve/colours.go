package serve

import (
	"sync"

	"kir/internal/report"
	"kir/internal/report/figure"
)

// A palette assigns colours to ingredients and groups. An assignment lasts as long as the page
// is served, across steps, and is unique among its kind. Its lock may be taken while any other
// is held.
type palette struct {
	mu                  sync.Mutex
	ingredients, groups figure.Palette[int]
}

// addShortlist assigns colours to the ingredients of a shortlist.
func (p *palette) addShortlist(list []report.Best) {
	var recipes []map[string]int
	for _, b := range list {
		recipes = append(recipes, b.Recipe)
	}
	p.add(recipes...)
}

// add assigns colours to the ingredients of recipes.
func (p *palette) add(recipes ...map[string]int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ingredients.Add(recipes)
}

// colours returns the colour numbers of ingredients.
func (p *palette) colours() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	colours := make(map[string]int)
	for name, paint := range p.ingredients.Paints() {
		colours[name] = paint.Index()
	}
	return colours
}

// groupColours returns the colours of groups in their order, and assigns colours to new
// groups.
func (p *palette) groupColours(g *groups) []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, value := range g.values {
		p.groups.Add([]map[string]int{{value: 1}})
	}
	paints := p.groups.Paints()
	colours := make([]int, len(g.values))
	for k, value := range g.values {
		colours[k] = paints[value].Index()
	}
	return colours
}
