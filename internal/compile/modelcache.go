package compile

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"

	"kir/model"
)

// A ModelCache keeps the models that problems have learnt. A problem that is read again after a change of
// its rules then need not learn them again. The key of a model is its data and options. Several readers may
// use a ModelCache at once.
type ModelCache struct {
	mu     sync.Mutex
	models map[[sha256.Size]byte]any // *model.Forest or *model.Learned
}

// maxCachedModels is the greatest number of models that are kept.
const maxCachedModels = 64

// grow calls [model.Grow], or returns the cached forest of the same data and options. A nil ModelCache
// keeps nothing.
func (g *ModelCache) grow(ctx context.Context, data *model.Data, o model.Options) (*model.Forest, error) {
	same := o
	same.Workers = 0 // changes only the time
	return cachedModel(g, fmt.Sprintf("%#v %#v", *data, same), func() (*model.Forest, error) { return model.Grow(ctx, data, o) })
}

// learn calls [model.Learn], or returns the cached model of the same data and options. A nil ModelCache
// keeps nothing.
func (g *ModelCache) learn(ctx context.Context, data *model.Data, o model.LearnOptions) (*model.Learned, error) {
	same := o
	same.Forest.Workers = 0
	return cachedModel(g, fmt.Sprintf("%#v %#v", *data, same), func() (*model.Learned, error) { return model.Learn(ctx, data, o) })
}

// cachedModel returns the cached model for a text, or makes it.
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
