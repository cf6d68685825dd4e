package compile

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"

	"kir/model"
)

// A ModelCache stores models that were learnt. If a problem is read again after its rules have changed, its
// models need not be learnt again. The key of a model is made of its training data and its options. Several
// goroutines may use a ModelCache at once.
type ModelCache struct {
	mu     sync.Mutex                // guards models
	models map[[sha256.Size]byte]any // each value is a *model.Forest or a *model.LearnedModel; see cachedModel for the keys
}

// maxCachedModels is the maximum number of models in a cache. If a further model is stored, the cache is
// emptied first.
const maxCachedModels = 64

// grow returns the cached forest with the same data and options. If there is none, it calls [model.Grow]. A
// nil ModelCache caches nothing.
func (g *ModelCache) grow(ctx context.Context, data *model.Data, o model.Options) (*model.Forest, error) {
	same := o
	same.Workers = 0 // changes only the time
	return cachedModel(g, fmt.Sprintf("%#v %#v", *data, same), func() (*model.Forest, error) { return model.Grow(ctx, data, o) })
}

// learn returns the cached model with the same data and options. If there is none, it calls [model.Learn]. A
// nil ModelCache caches nothing.
func (g *ModelCache) learn(ctx context.Context, data *model.Data, o model.LearnOptions) (*model.LearnedModel, error) {
	same := o
	same.Forest.Workers = 0
	return cachedModel(g, fmt.Sprintf("%#v %#v", *data, same), func() (*model.LearnedModel, error) { return model.Learn(ctx, data, o) })
}

// cachedModel returns the cached model for a text that describes the data and the options. If there is none, it
// calls the function learn and stores the result.
func cachedModel[M any](g *ModelCache, text string, learn func() (M, error)) (M, error) {
	if g == nil {
		return learn()
	}
	key := sha256.Sum256([]byte(text))
	g.mu.Lock()
	known, ok := g.models[key].(M)
	g.mu.Unlock()
	if ok {
		return known, nil
	}
	made, err := learn()
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
