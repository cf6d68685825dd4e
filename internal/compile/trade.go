package compile

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

// tradeValueScale returns the value scale of a property for a trade-off. It is the same scale as for limits,
// with one exception: if a property learns the logarithm of a number, the value is the exponential of the
// expected logarithm.
func tradeValueScale(w *Property) (*valueScale, error) {
	if m, ok := w.Model.(*model.LearnedModel); ok && m.Numeric() && m.Options().Log {
		least, greatest := m.Range()
		least, greatest = least/3, float64(3*greatest)
		score, err := m.Score(model.Maximize().WithScale(least, greatest))
		if err != nil {
			return nil, err
		}
		of, rise := property.NewLearned(score.Uncalibrated(), 0), portable.Log(greatest/least)
		value := func(logScore float64) float64 {
			return float64(least * portable.Exp(float64(rise*portable.Exp(logScore))))
		}
		return (&valueScale{asProperty: func(d *property.Desirability) (mcmc.Property, error) {
			return property.NewScoreTransform(of, value, d), nil
		}, shownFactor: 1}).withConditions(w.learntModel.conditionEncoder), nil
	}
	if w.newValueScale != nil {
		return w.newValueScale()
	}
	of, ok := w.mcmcProperty.(mcmc.LineProperty)
	if _, waits := w.mcmcProperty.(mcmc.BatchProperty); !ok || waits {
		return nil, fmt.Errorf("what a %s answers takes too long to trade off", w.Kind)
	}
	return scoreValueScale(of), nil
}

// MinTradeObjectives and MaxTradeObjectives are the minimum and maximum number of objectives in a trade-off.
const MinTradeObjectives, MaxTradeObjectives = schema.MinTradeObjectives, schema.MaxTradeObjectives

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
			return p.fileProblem.Root.Get("trade")
		}
		return written[k].Node
	})
	return err
}

// Objectives returns the objectives with the given names. An error has no position in the problem file.
func (p *Problem) Objectives(names []string) ([]Objective, error) {
	return p.objectives(names, nil)
}

// objectives returns the objectives with the given names. The function nodeOf returns the YAML node of the name
// with index k, or of the list of names if k is −1. It is nil if the names are not from a file.
func (p *Problem) objectives(names []string, nodeOf func(k int) *yaml.Node) ([]Objective, error) {
	blame := func(k int, format string, args ...any) *inputerr.Error {
		if nodeOf == nil {
			return &inputerr.Error{Message: fmt.Sprintf(format, args...)}
		}
		return nodeOf(k).Errorf(format, args...)
	}
	var there []string
	for k := range p.Properties {
		there = append(there, p.Properties[k].Name)
		for _, o := range p.Properties[k].figureObjectives {
			there = append(there, o.Name)
		}
	}
	if len(names) < MinTradeObjectives || len(names) > MaxTradeObjectives {
		e := blame(-1, "a trade-off has %d to %d objectives, and not %d", MinTradeObjectives, MaxTradeObjectives, len(names))
		if len(there) == 0 {
			return nil, yaml.Hint(e, "the problem has none: add them under properties")
		}
		return nil, yaml.Hint(e, "name %d to %d of %s", MinTradeObjectives, MaxTradeObjectives, inputerr.List(there, 12))
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

// objective returns the objective with a name, or nil if there is none.
func (p *Problem) objective(name string) (*Objective, error) {
	for k := range p.Properties {
		if p.Properties[k].Name == name {
			return p.Properties[k].objective(k)
		}
	}
	for k := range p.Properties {
		for _, o := range p.Properties[k].figureObjectives {
			if o.Name == name {
				o.Property = k
				return &o, nil
			}
		}
	}
	return nil, nil
}

// objective returns the objective of the property, whose index is propertyIndex.
func (w *Property) objective(propertyIndex int) (*Objective, error) {
	o := &Objective{Objective: search.Objective{Name: w.Name}, Property: propertyIndex, Figure: -1, Unit: w.Unit}
	if w.Class != "" {
		o.Unit = "%"
	}
	if w.Learning != nil { // there is no model of it yet
		return o, nil
	}
	l, err := tradeValueScale(w)
	if err != nil {
		return nil, err
	}
	direction, least, most := config.Maximize, 0.0, 0.0 // scores are maximised
	if v, ok := w.fileValue.(interface {
		Direction() (config.Direction, float64, float64)
	}); ok && w.newValueScale != nil {
		direction, least, most = v.Direction()
	}
	return o, o.setDirection(l, direction, least, most)
}

// TradeTarget returns the target of the search for a trade-off. It has the rules and the bounds of the problem.
// In addition it forbids compositions to which some property with a positive weight gives the score 0.
func (p *Problem) TradeTarget() (*mcmc.Target, error) {
	var bounds []mcmc.Bound
	for k := range p.Properties {
		w := &p.Properties[k]
		of, ok := w.mcmcProperty.(mcmc.LineProperty)
		if _, waits := w.mcmcProperty.(mcmc.BatchProperty); w.Weight == 0 || !ok || waits || w.Learning != nil {
			continue
		}
		kept, err := property.HardBounds(1, 1)
		if err != nil {
			return nil, err
		}
		positive := property.NewScoreTransform(of, func(logScore float64) float64 {
			if math.IsInf(logScore, -1) {
				return 0
			}
			return 1
		}, kept)
		bounds = append(bounds, mcmc.Bound{Name: w.Name, Property: positive, Guide: of})
	}
	return p.Target.WithBounds(bounds...)
}
