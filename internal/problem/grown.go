package problem

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"

	"kir/model"
)

// Grown keeps the models that problems have learnt, so that one that is read again
// after a change of its rules need not learn them anew. A model is kept under what
// it follows from: its data and options. It may be used by several readers at once.
type Grown struct {
	mu sync.Mutex
	of map[[sha256.Size]byte]any // *model.Forest or *model.Learned
}

// mostGrown bounds how many models are kept.
const mostGrown = 64

// grow is [model.Grow], or the forest of the same data and options. A nil Grown
// keeps nothing.
func (g *Grown) grow(ctx context.Context, data *model.Data, o model.Options) (*model.Forest, error) {
	same := o
	same.Workers = 0 // it changes nothing but the time
	return kept(g, fmt.Sprintf("%#v %#v", *data, same), func() (*model.Forest, error) { return model.Grow(ctx, data, o) })
}

// learn is [model.Learn], or the model of the same data and options. A nil Grown keeps
// nothing.
func (g *Grown) learn(ctx context.Context, data *model.Data, o model.LearnOptions) (*model.Learned, error) {
	same := o
	same.Forest.Workers = 0
	return kept(g, fmt.Sprintf("%#v %#v", *data, same), func() (*model.Learned, error) { return model.Learn(ctx, data, o) })
}

// kept returns the model of that text, or makes it.
func kept[M any](g *Grown, text string, make func() (M, error)) (M, error) {
	if g == nil {
		return make()
	}
	key := sha256.Sum256([]byte(text))
	g.mu.Lock()
	known, ok := g.of[key].(M)
	g.mu.Unlock()
	if ok {
		return known, nil
	}
	made, err := make()
	if err != nil {
		return made, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.of == nil || len(g.of) >= mostGrown {
		g.of = map[[sha256.Size]byte]any{}
	}
	g.of[key] = made
	return made, nil
}
