package randomproblem

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"kir/internal/compile"
	"kir/mcmc"
)

// NewLearnt draws a problem as New does, and before its other wishes one of a model
// that another program has grown, of a label that is learnt, or of a taste that
// comparisons tell.
func NewLearnt(seed uint64) *Problem {
	for try := uint64(0); ; try++ {
		d := newDice(seed, 1<<43|try)
		p := draw(d)
		p.Seed = seed
		w := &Wish{Name: "learnt", Kind: one(d, "model", "model", "model", "preference", "learn", "process"), Weight: one(d, 1, 1, 0.5, 2.5, 30)}
		switch w.Kind {
		case "model":
			p.drawModel(d, w)
		case "learn", "process":
			if !p.drawLearn(d, w) {
				continue
			}
		default:
			w.Weight = one(d, 1, 0.5, 2.5) // it is rounded to about 10⁻⁶
			p.drawPreference(d, w)
		}
		p.Wishes = append([]*Wish{w}, p.Wishes[:min(len(p.Wishes), 1)]...)
		e := p.feasible()
		if e.thin && !d.chance(0.02) || len(e.States) == 0 && !d.chance(0.1) {
			continue
		}
		if p.scored(e) {
			return p
		}
	}
}

// drawLearn draws what is asked of a label that is learnt from the recipes. It returns
// false where they do not differ in it.
func (p *Pantry) drawLearn(d dice, w *Wish) bool {
	least, greatest := math.MaxInt, 0
	for _, r := range p.Recipes {
		least, greatest = min(least, r.Stars), max(greatest, r.Stars)
	}
	if least >= greatest {
		return false
	}
	f := map[string]any{"label": "stars"}
	switch one(d, "maximize", "minimize", "between") {
	case "maximize":
		f["maximize"] = true
	case "minimize":
		f["minimize"] = true
	case "between":
		f["between"] = []int{least, greatest - 1}
	}
	if d.chance(0.3) {
		f["floor"] = 0.01
	}
	if d.chance(0.2) {
		f["log"] = true
	}
	if w.Kind == "learn" {
		f["trees"] = d.between(1, 12)
	}
	w.yaml = f
	return true
}

// point takes in what kir has learnt of a label: what it says of each composition alone,
// to which the kernels' lines are held.
func (w *Wish) point(property mcmc.Property) {
	w.log = func(x []int) float64 {
		c, err := mcmc.NewComposition(len(x), parts(x)...)
		if err != nil {
			return math.NaN()
		}
		return property.LogScore(c)
	}
}

// drawPreference draws comparisons. What is learnt of them is taken as data, as the
// trees of forests are; see [Wish.learn].
func (p *Pantry) drawPreference(d dice, w *Wish) {
	var text strings.Builder
	text.WriteString("pair,choice,ingredient,amount\n")
	for k := range d.between(1, 6) {
		for _, choice := range []string{"better", "worse"} {
			for i, a := range p.compose(d) {
				if a > 0 {
					fmt.Fprintf(&text, "%d,%s,%s,%d\n", k+1, choice, p.Names[i], a)
				}
			}
		}
	}
	w.files = map[string]string{"tasted.csv": text.String()}
	f := map[string]any{"pairs": "tasted.csv"}
	if d.chance(0.5) {
		f["groups"] = "family"
	}
	w.yaml = f
}

// learn takes in what kir has learnt of comparisons: the law of the taste, of which
// the score is computed composition by composition.
func (w *Wish) learn(read *compile.Property) {
	w.log = func(x []int) float64 {
		c, err := mcmc.NewComposition(len(x), parts(x)...)
		if err != nil {
			return math.NaN()
		}
		return read.Posterior.LogProbabilityOverMean(c)
	}
}

// A grown is a tree of a model: a test, or a leaf, which has no sides.
type grown struct {
	feature     int
	threshold   float64
	missingLeft bool
	left, right *grown
	leaf        float64
}

// An input is what a model knows of a composition.
type input struct {
	name string
	yaml any
	of   func(x []int) float64
	at   func() float64 // draws a threshold
}

// drawModel draws a model as XGBoost saves it, in JSON, or LightGBM, as text, and what
// is asked of it. The trees are evaluated here in the arithmetic of either: in float32,
// and left below the threshold; in float64, and left up to it.
func (p *Pantry) drawModel(d dice, w *Wish) {
	single := d.chance(0.6)
	round := func(v float64) float64 {
		if single {
			return float64(float32(v))
		}
		return v
	}
	var inputs []input
	for k := range d.between(1, 5) {
		q := p.drawInput(d)
		q.name = fmt.Sprintf("x%d", k)
		inputs = append(inputs, q)
	}
	features := map[string]any{}
	for _, q := range inputs {
		features[q.name] = q.yaml
	}
	f := map[string]any{"features": features}
	settings := []float64{math.NaN()} // of the last input, if it is a constant
	if d.chance(0.3) {
		q := input{name: "heat", at: func() float64 { return one(d, 150.0, 165, 172.5) }}
		inputs = append(inputs, q)
		values := one(d, []any{"missing"}, []any{165}, []any{150, 180}, []any{180, 165, "missing"})
		f["constants"] = map[string]any{q.name: values}
		settings = nil
		for _, v := range values {
			heat := math.NaN()
			if v, ok := v.(int); ok {
				heat = float64(v)
			}
			settings = append(settings, heat)
		}
	}
	var grow func(depth int) *grown
	grow = func(depth int) *grown {
		if depth == 0 || d.chance(0.15) {
			return &grown{leaf: round(math.Round(d.NormFloat64()*1000) / 1000)}
		}
		k := d.IntN(len(inputs))
		return &grown{k, round(inputs[k].at()), d.chance(0.5), grow(depth - 1), grow(depth - 1), 0}
	}
	var trees []*grown
	for range d.between(1, 8) {
		trees = append(trees, &grown{d.IntN(len(inputs)), 0, d.chance(0.5), grow(d.between(0, 3)), grow(d.between(0, 3)), 0})
		trees[len(trees)-1].threshold = round(inputs[trees[len(trees)-1].feature].at())
	}
	binary := d.chance(0.3)
	value := func(x []int, heat float64) float64 {
		v := make([]float64, len(inputs))
		for k, q := range inputs {
			v[k] = heat
			if q.of != nil {
				v[k] = round(q.of(x))
			}
		}
		sum := 0.0
		for _, t := range trees {
			for t.left != nil {
				below := v[t.feature] < t.threshold || !single && v[t.feature] == t.threshold
				if below || t.missingLeft && math.IsNaN(v[t.feature]) {
					t = t.left
				} else {
					t = t.right
				}
			}
			sum = round(sum + t.leaf)
		}
		if binary && single {
			return float64(1 / (1 + float32(math.Exp(-sum))))
		} else if binary {
			return 1 / (1 + math.Exp(-sum))
		}
		return sum
	}
	y := func(v float64) float64 { return v }
	if binary {
		f["class"] = "1"
	} else {
		y = drawAsked(d, f)
	}
	floor := one(d, 0, 0.001, 0.001, 1e-9)
	if floor > 0 {
		f["floor"] = floor
	}
	w.log = func(x []int) float64 {
		best := floor
		for _, heat := range settings {
			best = max(best, y(value(x, heat)))
		}
		return math.Log(best)
	}
	name, text := "model.json", asXGBoost
	if !single {
		name, text = "model.txt", asLightGBM
	}
	f["file"] = name
	w.files = map[string]string{name: text(inputs, trees, binary)}
	w.yaml = f
}

// drawAsked draws what is asked of a number, with ends that no sum of leaves meets,
// and returns how good a value is.
func drawAsked(d dice, f map[string]any) func(v float64) float64 {
	low := math.Round(d.NormFloat64()*1000)/1000 + 0.000437
	high := low + float64(d.between(1, 3000))/1000
	switch one(d, "maximize", "minimize", "at_least", "at_most", "between", "sd") {
	case "maximize":
		f["maximize"] = map[string]float64{"from": low, "to": high}
		return func(v float64) float64 { return min(max((v-low)/(high-low), 0), 1) }
	case "minimize":
		f["minimize"] = map[string]float64{"from": high, "to": low}
		return func(v float64) float64 { return min(max((high-v)/(high-low), 0), 1) }
	case "at_least":
		f["at_least"] = low
		return func(v float64) float64 { return oneIf(v >= low) }
	case "at_most":
		f["at_most"] = high
		return func(v float64) float64 { return oneIf(v <= high) }
	case "between":
		f["between"] = []float64{low, high}
		return func(v float64) float64 { return oneIf(low <= v && v <= high) }
	}
	f["at_least"], f["sd"] = low, 0.5
	return func(v float64) float64 { return math.Erfc((low-v)/(0.5*math.Sqrt2)) / 2 }
}

// drawInput draws what an input is of compositions, and thresholds on what it can be
// or between.
func (p *Pantry) drawInput(d dice) input {
	if d.chance(0.2) {
		c := p.Columns[d.between(1, 2)]
		return input{yaml: map[string]any{"mean": c.Name}, of: func(x []int) float64 { return p.mean(c, x) },
			at: func() float64 { return float64(c.Hundredths[d.IntN(len(p.Names))])*d.Float64()/100 + 0.000137 }}
	}
	of := p.drawSelection(d)
	measure := one(d, "share", "share", "percent", "units", "presence", "count")
	number := func(units, used int) float64 {
		switch measure {
		case "share":
			return float64(units) / float64(p.Total)
		case "percent":
			return float64(100*units) / float64(p.Total)
		case "presence":
			return float64(min(used, 1))
		case "count":
			return float64(used)
		}
		return float64(units)
	}
	return input{yaml: map[string]any{measure: of.yaml},
		of: func(x []int) float64 { return number(sum(x, of.of)) },
		at: func() float64 {
			k := d.IntN(p.Total + 1)
			if measure == "count" || measure == "presence" {
				k = d.IntN(3)
			}
			at := number(k, k)
			if d.chance(0.5) {
				at = (at + number(k+1, k+1)) / 2
			}
			return at
		}}
}

// asXGBoost writes a model as XGBoost does.
func asXGBoost(inputs []input, trees []*grown, binary bool) string {
	var all []any
	for _, t := range trees {
		var left, right, features, missing []int
		var conditions []float64
		var place func(t *grown) int
		place = func(t *grown) int {
			at := len(left)
			left, right, features = append(left, -1), append(right, -1), append(features, t.feature)
			conditions, missing = append(conditions, t.leaf), append(missing, 0)
			if t.left != nil {
				conditions[at] = t.threshold
				if t.missingLeft {
					missing[at] = 1
				}
				left[at] = place(t.left)
				right[at] = place(t.right)
			}
			return at
		}
		place(t)
		all = append(all, map[string]any{"left_children": left, "right_children": right, "split_indices": features, "split_conditions": conditions, "default_left": missing})
	}
	objective, base := "reg:squarederror", "0E0"
	if binary {
		objective, base = "binary:logistic", "5E-1"
	}
	text, err := json.Marshal(map[string]any{"version": []int{2, 1, 0}, "learner": map[string]any{
		"feature_names":       names(inputs),
		"gradient_booster":    map[string]any{"name": "gbtree", "model": map[string]any{"tree_info": make([]int, len(all)), "trees": all}},
		"learner_model_param": map[string]any{"base_score": base, "num_class": "0", "num_feature": fmt.Sprint(len(inputs)), "num_target": "1"},
		"objective":           map[string]any{"name": objective},
	}})
	if err != nil {
		return err.Error() // which no model is
	}
	return string(text)
}

// asLightGBM writes a model as LightGBM does.
func asLightGBM(inputs []input, trees []*grown, binary bool) string {
	objective := "regression"
	if binary {
		objective = "binary sigmoid:1"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx=%d\nobjective=%s\nfeature_names=%s\ntree_sizes=%s\n\n",
		len(inputs)-1, objective, strings.Join(names(inputs), " "), strings.Repeat("1 ", len(trees)))
	for k, t := range trees {
		var features, left, right, types, thresholds, leaves []string
		var place func(t *grown) string
		place = func(t *grown) string {
			if t.left == nil {
				leaves = append(leaves, fmt.Sprint(t.leaf))
				return fmt.Sprint(-len(leaves))
			}
			at := len(features)
			kind := 8 // NaN is missing, and goes right
			if t.missingLeft {
				kind += 2
			}
			features, types = append(features, fmt.Sprint(t.feature)), append(types, fmt.Sprint(kind))
			thresholds = append(thresholds, fmt.Sprint(t.threshold))
			left, right = append(left, ""), append(right, "")
			left[at] = place(t.left)
			right[at] = place(t.right)
			return fmt.Sprint(at)
		}
		place(t)
		fmt.Fprintf(&b, "Tree=%d\nnum_leaves=%d\nnum_cat=0\n", k, len(leaves))
		for _, list := range []struct {
			name   string
			values []string
		}{{"split_feature", features}, {"threshold", thresholds}, {"decision_type", types}, {"left_child", left}, {"right_child", right}, {"leaf_value", leaves}} {
			fmt.Fprintf(&b, "%s=%s\n", list.name, strings.Join(list.values, " "))
		}
		b.WriteString("is_linear=0\nshrinkage=1\n\n\n")
	}
	b.WriteString("end of trees\n")
	return b.String()
}

func names(inputs []input) []string {
	all := make([]string, len(inputs))
	for k, q := range inputs {
		all[k] = q.name
	}
	return all
}
