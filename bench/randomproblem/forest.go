package randomproblem

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// A forestWish is what is asked of a forest that kir grows.
type forestWish struct {
	classes  []string // wanted; nil for a number
	low, top float64  // bounds of the number
	floor    float64
}

// drawForest draws a wish of a forest, grown from the book when the problem is
// read.
func (p *Pantry) drawForest(d dice, w *Wish) {
	f := map[string]any{"trees": d.between(1, 12), "seed": d.IntN(1000)}
	w.forest = &forestWish{low: math.Inf(-1), top: math.Inf(1), floor: one(d, 0, 0, 0.001, 1e-12)}
	if w.forest.floor > 0 {
		f["floor"] = w.forest.floor
	}
	if d.chance(0.6) {
		f["label"] = "taste"
		w.forest.classes = []string{"Fresh"}
		f["want"] = "Fresh"
		if slices.ContainsFunc(p.Recipes, func(r Recipe) bool { return r.Taste == "Sweet" }) && d.chance(0.3) {
			w.forest.classes = []string{"Fresh", "Sweet"}
			f["want"] = w.forest.classes
		}
	} else {
		f["label"] = "stars"
		f["leaf"] = d.between(1, 3)
		switch d.IntN(3) {
		case 0:
			w.forest.low = float64(d.between(1, 5))
			f["at_least"] = w.forest.low
		case 1:
			w.forest.top = float64(d.between(1, 5))
			f["at_most"] = w.forest.top
		case 2:
			w.forest.low = float64(d.between(1, 4))
			w.forest.top = w.forest.low + 1
			f["between"] = []float64{w.forest.low, w.forest.top}
		}
	}
	if d.chance(0.4) {
		f["add"] = one(d, map[string]any{"presence": true}, map[string]any{"totals": "family"}, map[string]any{"totals": "family", "presence": true})
	}
	w.yaml = f
}

// A savedForest is the part that matters here of the file in which kir train
// saves a forest. Its labels are numbers of classes, or of the sorted numbers.
type savedForest struct {
	Classes  []string  `json:"classes"`
	Numbers  []float64 `json:"numbers"`
	Features []struct {
		Ingredients []int `json:"ingredients"`
		Presence    bool  `json:"presence"`
	} `json:"features"`
	// A tree lists its nodes before what is below them, the left side first: the
	// feature that a node tests, −1 for a leaf; for each test the threshold up to
	// which it goes left; for each leaf pairs of a label and how often it fell
	// there.
	Trees []struct {
		Features   []int   `json:"features"`
		Thresholds []int   `json:"thresholds"`
		Leaves     [][]int `json:"leaves"`
	} `json:"trees"`
}

// Read takes in the forest that kir grew for the wish, as it is saved: the mean
// over the trees of the share of the wanted labels in the leaf that the
// composition reaches.
func (w *Wish) Read(saved []byte) error {
	var f savedForest
	if err := json.Unmarshal(saved, &f); err != nil {
		return fmt.Errorf("reading the forest of %s: %w", w.Name, err)
	}
	wanted := func(label int) bool {
		if w.forest.classes != nil {
			return slices.Contains(w.forest.classes, f.Classes[label])
		}
		v := f.Numbers[label]
		return w.forest.low <= v && v <= w.forest.top
	}
	feature := func(x []int, k int) int {
		if f.Features == nil {
			return x[k]
		}
		units, count := sum(x, f.Features[k].Ingredients)
		if f.Features[k].Presence {
			return min(count, 1)
		}
		return units
	}
	w.log = func(x []int) float64 {
		mean := 0.0
		for _, t := range f.Trees {
			at, tests, leaves := 0, 0, 0 // of the node that is next in the list
			var walk func(here bool) (share float64)
			walk = func(here bool) (share float64) {
				k := t.Features[at]
				at++
				if k < 0 {
					leaf := t.Leaves[leaves]
					leaves++
					if !here {
						return 0
					}
					yes, all := 0, 0
					for q := 0; q < len(leaf); q += 2 {
						all += leaf[q+1]
						if wanted(leaf[q]) {
							yes += leaf[q+1]
						}
					}
					return float64(yes) / float64(all)
				}
				left := feature(x, k) <= t.Thresholds[tests]
				tests++
				share = walk(here && left)
				return share + walk(here && !left)
			}
			mean += walk(true)
		}
		return floored(math.Log(mean/float64(len(f.Trees))), w.forest.floor)
	}
	return nil
}
