package problem

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"

	"kir/model"
)

// ModelCache keeps the models that problems have learnt, so that one that is read again
// after a change of its rules need not learn them anew. A model is kept under what
// it follows from: its data and options. It may be used by several readers at once.
type ModelCache struct {
	mu     sync.Mutex
	models map[[sha256.Size]byte]any // *model.Forest or *model.Learned
}

// maxCachedModels bounds how many models are kept.
const maxCachedModels = 64

// grow is [model.Grow], or the forest of the same data and options. A nil Grown
// keeps nothing.
func (g *ModelCache) grow(ctx context.Context, data *model.Data, o model.Options) (*model.Forest, error) {
	same := o
	same.Workers = 0 // it changes nothing but the time
	return cachedModel(g, fmt.Sprintf("%#v %#v", *data, same), func() (*model.Forest, error) { return model.Grow(ctx, data, o) })
}

// learn is [model.Learn], or the model of the same data and options. A nil Grown keeps
// nothing.
func (g *ModelCache) learn(ctx context.Context, data *model.Data, o model.LearnOptions) (*model.Learned, error) {
	same := o
	same.Forest.Workers = 0
	return cachedModel(g, fmt.Sprintf("%#v %#v", *data, same), func() (*model.Learned, error) { return model.Learn(ctx, data, o) })
}

// cachedModel returns the model of that text, or makes it.
func cachedModel[M any](g *ModelCache, text string, make func() (M, error)) (M, error) {
	if g == nil {
		return make()
	}
	key := sha256.Sum256([]byte(text))
	g.mu.Lock()
	known, ok := g.models[key].(M)
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
	if g.models == nil || len(g.models) >= maxCachedModels {
		g.models = map[[sha256.Size]byte]any{}
	}
	g.models[key] = made
	return made, nil
}
