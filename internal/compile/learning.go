package compile

import (
	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/model"
)

// A Learning describes what a property must learn. Properties have a Learning if the problem is read for a
// campaign, which chooses the model.
type Learning struct {
	Label    string          // name of the label
	Want     model.Want      // which values of the label are wanted
	Numeric  bool            // whether the label has numbers rather than classes
	Features []model.Feature // inputs of the prediction; nil means the amounts of the ingredients
	Log      bool            // whether the logarithm of the number is learnt instead of the number
	SDLabel  string          // name of the label with the standard deviations of the numbers; empty if there is none
	// FailureValues are values that mark a recipe as failed, in addition to the values that
	// [dataset.IsFailureMark] accepts. If the pointer is nil, no recipe counts as failed.
	FailureValues *[]string
	Limit         *LearntLimit // the limit that the objective is made from; nil if the objective is not made from a limit
}

// Measured returns the number that each recipe has for the label, and whether the recipe failed. A missing
// number is NaN.
func (l *Learning) Measured(label *dataset.Label) (numbers []float64, failed []bool, err error) {
	if l.FailureValues != nil {
		return label.Measurements(*l.FailureValues...)
	}
	numbers, err = label.Numbers()
	return numbers, make([]bool, len(numbers)), err
}

// Direction returns which numbers of the label are better. If the direction is [config.Between], least and most
// are the bounds. For a label with classes, the probability of the wanted class is to be maximised.
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

// Spreads returns the standard deviation of the label's number in each recipe. A missing standard deviation is
// NaN. The result is nil if no label has the standard deviations.
func (l *Learning) Spreads(b *dataset.Book) ([]float64, error) {
	if l.SDLabel == "" || b == nil {
		return nil, nil
	}
	label, ok := b.Label(l.SDLabel)
	if !ok || len(label.Classes) == 0 {
		return nil, nil // the column is empty
	}
	sd, _, err := label.Measurements()
	if err != nil {
		return nil, err
	}
	for _, v := range sd {
		if v < 0 {
			return nil, negativeSDError(v, label)
		}
	}
	return sd, nil
}

// compileLearning makes a property that only describes what a campaign must learn. It learns no model.
func compileLearning(s *readContext, n *yaml.Node, objective *config.Objective, numbers config.LabelNumbers, add config.Written[config.AddedFeatures]) (Property, error) {
	at := objective.Label.Node
	if at == nil {
		return Property{}, yaml.Hint(n.Errorf("there is no label to learn"), "name the label that is measured")
	}
	features, words, err := compileAddedFeatures(s, add)
	if err != nil {
		return Property{}, err
	}
	l := &Learning{
		Label: dataset.NormalizeName(objective.Label.Value), Want: modelWant(objective), Numeric: objective.HasNumbers(), Features: features,
		Log: numbers.Log.Value, SDLabel: dataset.NormalizeName(numbers.SD.Value),
	}
	if l.Numeric {
		l.FailureValues = &numbers.Failed.Value
	}
	if known, ok := findLabel(s, l.Label); ok && l.Numeric {
		values, _, err := l.Measured(known)
		if err != nil {
			return Property{}, at.PlaceError(err)
		}
		for _, v := range values {
			if l.Log && v <= 0 {
				return Property{}, yaml.Hint(numbers.Log.Node.Errorf("a recipe has %v for the label %s, which has no logarithm", v, inputerr.Quote(l.Label)), "remove log, or correct the number")
			}
		}
	}
	return Property{About: l.Label + " " + l.Want.String() + words, Learning: l, resolvedValue: yaml.Map{}}, nil
}

// findLabel returns the label of the known recipes with a name. The second result is true if at least one
// recipe has a value of the label.
func findLabel(s *readContext, name string) (*dataset.Label, bool) {
	if s.Book == nil {
		return nil, false
	}
	l, ok := s.Book.Label(name)
	return l, ok && len(l.Classes) > 0
}
