package compile

import (
	"context"
	"errors"
	"fmt"
	"io"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
	"kir/model"
)

// loadLearntProperty makes a property that is predicted by a model from a file, which kir train wrote.
func loadLearntProperty(ctx context.Context, s *readContext, v *config.Learn, n *yaml.Node) (Property, error) {
	file := v.File
	var m *model.LearnedModel
	err := s.Files.Read(ctx, file, "the file of the model", func(r io.Reader, _ string) (err error) {
		m, err = model.ReadLearned(ctx, io.LimitReader(r, maxForestBytes))
		return err
	})
	if err != nil {
		if bad := (*inputerr.Error)(nil); errors.As(err, &bad) || ctx.Err() != nil {
			return Property{}, err
		}
		return Property{}, yaml.Hint(file.Errorf("%s is no model that can be used: %v", inputerr.Quote(file.Text), err), "save it anew with kir train; a forest is loaded by forest: {file: ...}")
	}
	if err := checkModelFitsProblem(s, file, m.Total(), m.Ingredients()); err != nil {
		return Property{}, err
	}
	if v.Label.Node != nil && v.Label.Value != m.Label() {
		return Property{}, yaml.Hint(v.Label.Node.Errorf("the model in the file predicts %s, not %s", inputerr.Quote(m.Label()), v.Label.Node.Describe()), "name that label or leave it out")
	}
	data, recipes := matchTrainingData(s, file, m)
	p, err := learntProperty(s, m, data, recipes, &v.Objective)
	if err != nil {
		return Property{}, err
	}
	var resolved yaml.Map
	resolved.Set("file", file.Text)
	resolved.Set("label", m.Label())
	resolved.Set("floor", v.Floor.Value)
	resolved.CopyKeys(n, "want", "at_least", "at_most", "between", "maximize", "minimize")
	p.resolvedValue = resolved
	return p, nil
}

// matchTrainingData returns the training data of a model that was loaded from a file, and the index of the
// known recipe of each row. The data are known if the model was learnt from the known recipes. Otherwise it
// returns nil and adds a warning.
func matchTrainingData(s *readContext, file *yaml.Node, m *model.LearnedModel) (*model.Data, []int) {
	if s.Book == nil {
		return nil, nil
	}
	if label, ok := s.Book.Label(m.Label()); ok {
		// Every value that is not a number may have marked a failed recipe.
		data, recipes, failed, err := labelledData(s, s.Book, label, s.Total, m.Numeric(), label.Classes)
		if err == nil && len(failed) == m.FailedCount() && m.IsLearntFrom(data) {
			return data, recipes
		}
	}
	s.Warn(fmt.Sprintf("The model of %s was trained on other recipes, perhaps with some of yours. So kir does not compare your recipes with the suggestions, or check the predicted gain.", m.Label()))
	return nil, nil
}
