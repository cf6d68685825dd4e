package serve

import (
	"sync"

	"kir/internal/report"
	"kir/internal/report/figure"
)

// A palette is the colours of a session. What has one keeps it as long as the page is
// served, from step to step, and shares it with nothing else of its kind. Its lock may
// be taken while any other is held.
type palette struct {
	mu                  sync.Mutex
	ingredients, groups figure.Palette[int]
}

// addShortlist gives the ingredients of a shortlist their colours.
func (p *palette) addShortlist(list []report.Best) {
	var recipes []map[string]int
	for _, b := range list {
		recipes = append(recipes, b.Recipe)
	}
	p.add(recipes...)
}

// add gives the ingredients of recipes their colours.
func (p *palette) add(recipes ...map[string]int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ingredients.Add(recipes)
}

// colours returns the colours of ingredients, by number.
func (p *palette) colours() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	colours := make(map[string]int)
	for name, paint := range p.ingredients.Paints() {
		colours[name] = paint.Index()
	}
	return colours
}

// groupColours returns the colours of groups in their order, which new ones get theirs by.
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
