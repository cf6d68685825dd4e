package problem

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"

	"kir/model"
)

// Grown keeps the forests that problems have grown, so that one that is read again
// after a change of its rules need not grow them anew. A forest is kept under what
// it follows from: its data and options. It may be used by several readers at once.
type Grown struct {
	mu sync.Mutex
	of map[[sha256.Size]byte]*model.Forest
}

// mostGrown bounds how many forests are kept.
const mostGrown = 64

// grow is [model.Grow], or the forest of the same data and options. A nil Grown
// keeps nothing.
func (g *Grown) grow(ctx context.Context, data *model.Data, o model.Options) (*model.Forest, error) {
	if g == nil {
		return model.Grow(ctx, data, o)
	}
	same := o
	same.Workers = 0 // it changes nothing but the time
	h := sha256.New()
	fmt.Fprintf(h, "%#v %#v", *data, same)
	key := [sha256.Size]byte(h.Sum(nil))
	g.mu.Lock()
	f := g.of[key]
	g.mu.Unlock()
	if f != nil {
		return f, nil
	}
	f, err := model.Grow(ctx, data, o)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.of == nil || len(g.of) >= mostGrown {
		g.of = make(map[[sha256.Size]byte]*model.Forest)
	}
	g.of[key] = f
	return f, nil
}
