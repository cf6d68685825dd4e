package problem

import (
	"fmt"
	"math"
	"slices"

	"kir/internal/config"
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/portable"
	"kir/internal/search"
	"kir/mcmc"
	"kir/model"
	"kir/property"
)

// An Objective is one of the objectives of a trade-off.
type Objective struct {
	Name     string // name of a property, or of one of its figures
	Property int    // index of the property
	Figure   int    // index of the figure; −1: the property itself
	Unit     string // unit of shown values

	// Direction states which values are better: Maximize, Minimize, or Between Least and Most, which are
	// shown values.
	Direction   Direction
	Least, Most float64

	Loss search.Loss
}

// A valueDirection states which values of a value scale are better.
type valueDirection struct {
	direction   Direction
	least, most float64 // judged values, for Between
}

// desirability returns exp(−loss) of a judged value. The loss is the negative of the value for Maximize,
// the value for Minimize, and the distance to the range for Between.
func (a valueDirection) desirability() (*property.Desirability, error) {
	switch a.direction {
	case Maximize:
		return property.Steep(1), nil
	case Minimize:
		return property.Steep(-1), nil
	}
	return property.Beyond(a.least, a.most, 1)
}

// A subObjective is a figure of a property that can be an objective of its own.
type subObjective struct {
	figure    int
	direction valueDirection
	scale     *valueScale
}

// valueDirectionOf returns the direction of a property's value.
func valueDirectionOf(w *Property) valueDirection {
	if w.learnt != nil {
		switch d := w.learnt.want.Direction(); {
		case d > 0 || w.Class != "":
			return valueDirection{direction: Maximize}
		case d < 0:
			return valueDirection{direction: Minimize}
		}
		least, most, _ := w.learnt.want.Bounds()
		return valueDirection{Between, least, most}
	}
	if w.valueScale == nil {
		return valueDirection{direction: Maximize} // scores are maximised
	}
	switch v := w.written.(type) {
	case *config.Blend:
		return blendDirection(v)
	case *config.Model:
		return modelDirection(&v.ModelObjective)
	case *config.Expression:
		return extremumDirection(&v.Extremum)
	case *config.Markowitz:
		if v.Minimize.At != nil {
			return valueDirection{direction: Minimize}
		}
	}
	return valueDirection{direction: Maximize}
}

func extremumDirection(e *config.Extremum) valueDirection {
	if e.Minimize.At != nil {
		return valueDirection{direction: Minimize}
	}
	return valueDirection{direction: Maximize}
}

func blendDirection(b *config.Blend) valueDirection {
	switch {
	case b.Smaller.At != nil:
		return valueDirection{direction: Minimize}
	case b.Target.At != nil:
		return valueDirection{Between, b.Target.Value.At.Value, b.Target.Value.At.Value}
	case b.Normal.At != nil:
		return valueDirection{Between, b.Normal.Value.Mean.Value, b.Normal.Value.Mean.Value}
	case b.Range.At != nil:
		return valueDirection{Between, b.Range.Value.From.Value, b.Range.Value.To.Value}
	}
	return extremumDirection(&b.Extremum)
}

func modelDirection(o *config.ModelObjective) valueDirection {
	switch {
	case o.Minimize.At != nil:
		return valueDirection{direction: Minimize}
	case o.Target.At != nil:
		return valueDirection{Between, o.Target.Value.At.Value, o.Target.Value.At.Value}
	case o.Between.At != nil:
		return valueDirection{Between, o.Between.Value[0], o.Between.Value[1]}
	case o.AtLeast.At != nil || o.AtMost.At != nil:
		return valueDirection{Between, o.AtLeast.Or(math.Inf(-1)), o.AtMost.Or(math.Inf(1))}
	}
	return valueDirection{direction: Maximize}
}

// tradeScale returns the value scale of a property for a trade-off. It is the scale for limits, except for
// learnt logarithms: then the value is the number whose logarithm is expected.
func tradeScale(w *Property) (*valueScale, error) {
	if m, ok := w.Model.(*model.Learned); ok && m.Numeric() && m.Options().Log {
		least, greatest := m.Range()
		least, greatest = least/3, float64(3*greatest)
		score, err := m.Score(model.Maximize().Over(least, greatest))
		if err != nil {
			return nil, err
		}
		of, rise := property.NewLearned(score.Bare(), 0), portable.Log(greatest/least)
		value := func(logScore float64) float64 {
			return float64(least * portable.Exp(float64(rise*portable.Exp(logScore))))
		}
		return &valueScale{asProperty: func(d *property.Desirability) (mcmc.Property, error) { return property.NewLevel(of, value, d), nil }, scale: 1}, nil
	}
	if w.valueScale != nil {
		return w.valueScale()
	}
	of, ok := w.property.(mcmc.LineProperty)
	if _, waits := w.property.(mcmc.BatchProperty); !ok || waits {
		return nil, fmt.Errorf("what a %s answers takes too long to trade off", w.Kind)
	}
	return scoreScale(of), nil
}

// LeastTrade and MostTrade bound the number of objectives in a trade-off.
const LeastTrade, MostTrade = schema.LeastTrade, schema.MostTrade

// compileTrade sets the objectives of the trade-off that the file asks for.
//
//	trade: [cost, viscosity]
func (p *Problem) compileTrade(written []config.Written[string]) error {
	p.Trade = nil
	if written == nil {
		return nil
	}
	for _, name := range written {
		p.Trade = append(p.Trade, dataset.NormalizeName(name.Value))
	}
	_, err := p.objectives(p.Trade, func(k int) *yaml.Node {
		if k < 0 {
			return p.file.Root.Get("trade")
		}
		return written[k].At
	})
	return err
}

// Objectives returns the objectives with the given names. Its errors have no place in the problem file.
func (p *Problem) Objectives(names []string) ([]Objective, error) {
	return p.objectives(names, nil)
}

// objectives returns objectives by name. at returns the node of name k, or of the whole list for −1. A nil
// at means that no file has the names.
func (p *Problem) objectives(names []string, at func(k int) *yaml.Node) ([]Objective, error) {
	blame := func(k int, format string, args ...any) *inputerr.Error {
		if at == nil {
			return &inputerr.Error{Message: fmt.Sprintf(format, args...)}
		}
		return at(k).Errorf(format, args...)
	}
	var there []string
	for k := range p.Properties {
		there = append(there, p.Properties[k].Name)
		for _, s := range p.Properties[k].subObjectives {
			there = append(there, p.Properties[k].Figures[s.figure].Name)
		}
	}
	if len(names) < LeastTrade || len(names) > MostTrade {
		e := blame(-1, "a trade-off has %d to %d objectives, and not %d", LeastTrade, MostTrade, len(names))
		if len(there) == 0 {
			return nil, yaml.Hint(e, "the problem has none: add them under properties")
		}
		return nil, yaml.Hint(e, "name %d to %d of %s", LeastTrade, MostTrade, inputerr.List(there, 12))
	}
	var out []Objective
	for k, name := range names {
		name = dataset.NormalizeName(name)
		if slices.Contains(names[:k], name) {
			return nil, yaml.Hint(blame(k, "the trade-off names %s twice", inputerr.Quote(name)), "name each objective once")
		}
		o, err := p.objective(name)
		switch {
		case err != nil:
			return nil, yaml.Hint(blame(k, "%v", err), "trade off something else, such as %s", inputerr.List(there, 12))
		case o == nil && len(there) == 0:
			return nil, yaml.Hint(blame(k, "there is no objective %s", inputerr.Quote(name)), "the problem has none: add them under properties")
		case o == nil:
			return nil, yaml.SuggestName(blame(k, "there is no objective %s", inputerr.Quote(name)), name, "there are", there, 12)
		}
		out = append(out, *o)
	}
	return out, nil
}

// objective returns the objective with a name, or nil.
func (p *Problem) objective(name string) (*Objective, error) {
	o := &Objective{Name: name, Figure: -1}
	var l *valueScale
	var a valueDirection
	if w := p.propertyNamed(name); w != nil {
		o.Property = slices.IndexFunc(p.Properties, func(w Property) bool { return w.Name == name })
		if o.Unit = w.Unit; w.Class != "" {
			o.Unit = "%"
		}
		if w.Learning != nil { // there is no model of it yet
			return o, nil
		}
		var err error
		if l, err = tradeScale(w); err != nil {
			return nil, err
		}
		a = valueDirectionOf(w)
	}
	for k := range p.Properties {
		for _, s := range p.Properties[k].subObjectives {
			if f := p.Properties[k].Figures[s.figure]; l == nil && f.Name == name {
				o.Property, o.Figure, o.Unit, l, a = k, s.figure, f.Unit, s.scale, s.direction
				if f.Percent {
					o.Unit = "%"
				}
			}
		}
	}
	if l == nil {
		return nil, nil
	}
	d, err := a.desirability()
	if err != nil {
		return nil, err
	}
	o.Direction, o.Loss.Name = a.direction, name
	if a.direction == Between {
		o.Least, o.Most = float64(a.least*l.scale), float64(a.most*l.scale)
		o.Loss.Size = sizeOf(a.least, a.most)
	}
	o.Loss.Property, err = l.asProperty(d)
	return o, err
}

// ValueSize returns the magnitude of the values from whose difference the loss is computed; see
// [pareto.MergeTies]. It is 0 unless the direction is Between.
func (o *Objective) ValueSize() float64 {
	if o.Direction != Between {
		return 0
	}
	return sizeOf(o.Least, o.Most)
}

// sizeOf returns the greater absolute value of two bounds, ignoring infinite ones.
func sizeOf(least, most float64) (size float64) {
	for _, v := range []float64{least, most} {
		if !math.IsInf(v, 0) {
			size = max(size, math.Abs(v))
		}
	}
	return size
}

// TradeTarget returns the target of a trade-off. It has the rules and bounds of the problem, and allows no
// composition that a property scores 0.
func (p *Problem) TradeTarget() (*mcmc.Target, error) {
	var bounds []mcmc.Bound
	for k := range p.Properties {
		w := &p.Properties[k]
		of, ok := w.property.(mcmc.LineProperty)
		if _, waits := w.property.(mcmc.BatchProperty); w.Weight == 0 || !ok || waits || w.Learning != nil {
			continue
		}
		kept, err := property.Within(1, 1)
		if err != nil {
			return nil, err
		}
		positive := property.NewLevel(of, func(logScore float64) float64 {
			if math.IsInf(logScore, -1) {
				return 0
			}
			return 1
		}, kept)
		bounds = append(bounds, mcmc.Bound{Name: w.Name, Property: positive, Toward: of})
	}
	return p.Target.WithBounds(bounds...)
}
