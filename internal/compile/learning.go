package compile

import (
	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/model"
)

// A Learning describes a property to learn, of a problem that is read for a campaign. The campaign decides
// how to learn it.
type Learning struct {
	Label    string
	Want     model.Want
	Numeric  bool            // the label has numbers, not classes
	Features []model.Feature // nil: the amounts of the ingredients
	Log      bool            // learn the logarithm of the number
	SD       string          // label with the standard deviations of the numbers; empty: none
	Failures *[]string       // further values that mark a recipe as failed, beside those of [dataset.IsFailure]; nil: no recipe counts as failed
	Limit    *LearntLimit    // the limit for which this is the objective; its property has the model; nil: none
}

// Measured returns the numbers of a label, NaN if missing, and which recipes failed.
func (l *Learning) Measured(label *dataset.Label) (numbers []float64, failed []bool, err error) {
	if l.Failures != nil {
		return label.Measured(*l.Failures...)
	}
	numbers, err = label.Numbers()
	return numbers, make([]bool, len(numbers)), err
}

// Direction returns which numbers of the label are better, and the bounds of [config.Between]. The probability
// of a class is maximised.
func (l *Learning) Direction() (d config.Direction, least, most float64) {
	switch up := l.Want.Direction(); {
	case up > 0 || !l.Numeric:
		return config.Maximize, 0, 0
	case up < 0:
		return config.Minimize, 0, 0
	}
	least, most, _ = l.Want.Bounds()
	return config.Between, least, most
}

// Spreads returns the standard deviations of the numbers of a book's recipes, NaN if missing. It returns
// nil if no label has them.
func (l *Learning) Spreads(b *dataset.Book) ([]float64, error) {
	if l.SD == "" || b == nil {
		return nil, nil
	}
	label, ok := b.Label(l.SD)
	if !ok || len(label.Classes) == 0 {
		return nil, nil // the column is empty
	}
	sd, _, err := label.Measured()
	if err != nil {
		return nil, err
	}
	for _, v := range sd {
		if v < 0 {
			return nil, negativeSpread(v, label)
		}
	}
	return sd, nil
}

// compileLearning makes a property that describes what there is to learn, without learning it.
func compileLearning(s *readContext, n *yaml.Node, objective *config.Objective, numbers config.LabelNumbers, add config.Written[config.AddedFeatures]) (Property, error) {
	at := objective.Label.At
	if at == nil {
		return Property{}, yaml.Hint(n.Errorf("there is no label to learn"), "name the label that is measured")
	}
	features, words, err := compileAddedFeatures(s, add)
	if err != nil {
		return Property{}, err
	}
	l := &Learning{
		Label: dataset.NormalizeName(objective.Label.Value), Want: wantOf(objective), Numeric: objective.HasNumbers(), Features: features,
		Log: numbers.Log.Value, SD: dataset.NormalizeName(numbers.SD.Value),
	}
	if l.Numeric {
		l.Failures = &numbers.Failed.Value
	}
	if known, ok := findLabel(s, l.Label); ok && l.Numeric {
		values, _, err := l.Measured(known)
		if err != nil {
			return Property{}, at.PlaceError(err)
		}
		for _, v := range values {
			if l.Log && v <= 0 {
				return Property{}, yaml.Hint(numbers.Log.At.Errorf("a recipe has %v for the label %s, which has no logarithm", v, inputerr.Quote(l.Label)), "remove log, or correct the number")
			}
		}
	}
	return Property{About: l.Label + " " + l.Want.String() + words, Learning: l, resolved: yaml.Map{}}, nil
}

// findLabel returns a label of the book, and whether at least one recipe has it.
func findLabel(s *readContext, name string) (*dataset.Label, bool) {
	if s.Book == nil {
		return nil, false
	}
	l, ok := s.Book.Label(name)
	return l, ok && len(l.Classes) > 0
}
