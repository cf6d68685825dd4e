package compile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
	"kir/model"
)

// maxForestBytes is the maximum number of bytes read from the file of a forest.
const maxForestBytes = 1 << 30

// loadGrownForest loads the forest of a property from the file that the property names.
func loadGrownForest(ctx context.Context, s *readContext, v *config.Forest) (*grownForest, error) {
	grown, err := loadForest(ctx, s, v.File)
	if err != nil {
		return nil, err
	}
	if v.Label.Node != nil && v.Label.Value != grown.Label() {
		return nil, yaml.Hint(v.Label.Node.Errorf("the forest in the file predicts %s, not %s", inputerr.Quote(grown.Label()), v.Label.Node.Describe()), "name that label or leave it out")
	}
	data, err := matchForestTrainingData(ctx, s, grown)
	if err != nil {
		return nil, v.File.PlaceError(err)
	}
	f := &grownForest{model: grown, trainingData: data}
	f.resolvedYAML.Set("file", v.File.Text)
	return f, nil
}

// loadForest loads a forest from a file that kir train wrote. The file has the forest alone, or a model that
// contains the forest. The forest must have the ingredients and the total of the problem.
func loadForest(ctx context.Context, s *readContext, n *yaml.Node) (*model.Forest, error) {
	var f *model.Forest
	err := s.Files.Read(ctx, n, "the file of the forest", func(r io.Reader, _ string) (err error) {
		text, err := io.ReadAll(io.LimitReader(r, maxForestBytes))
		if err != nil {
			return err
		}
		if !model.IsModelFile(text) {
			f, err = model.Read(bytes.NewReader(text))
			return err
		}
		m, err := model.ReadLearned(ctx, bytes.NewReader(text))
		if err != nil {
			return err
		}
		if f = m.Forest(); f == nil {
			return errors.New("it is a Gaussian process alone")
		}
		return nil
	})
	if err != nil {
		if bad := (*inputerr.Error)(nil); errors.As(err, &bad) || ctx.Err() != nil {
			return nil, err
		}
		return nil, yaml.Hint(n.Errorf("%s is no forest that can be used: %v", inputerr.Quote(n.Text), err), "save it anew with kir train")
	}
	return f, checkModelFitsProblem(s, n, f.Total(), f.Ingredients())
}

// checkModelFitsProblem returns an error unless a model was learnt with the total and the ingredients of the
// problem. The parameters total and names are those of the model.
func checkModelFitsProblem(s *readContext, n *yaml.Node, total int, names []string) error {
	if total != s.Total {
		return yaml.Hint(n.Errorf("the forest was grown for a total of %d units and the problem has %d", total, s.Total), "change the total, or grow it with kir train --total %d", s.Total)
	}
	for k, name := range s.IngredientNames {
		if k >= len(names) || names[k] != name {
			return yaml.Hint(n.Errorf("the forest was grown on other ingredients: the problem's number %d is %s", k+1, inputerr.Quote(name)), "%s", regrowHint(s.IngredientsPath))
		}
	}
	if len(names) != len(s.IngredientNames) {
		return yaml.Hint(n.Errorf("the forest was grown on %d ingredients and the problem has %d", len(names), len(s.IngredientNames)), "%s", regrowHint(s.IngredientsPath))
	}
	return nil
}

// matchForestTrainingData returns the training data of a forest that was loaded from a file. The data are known
// if the forest was grown from the known recipes. Otherwise it returns nil and adds a warning.
func matchForestTrainingData(ctx context.Context, s *readContext, f *model.Forest) (*model.Data, error) {
	if s.Book == nil {
		return nil, nil
	}
	label, ok := s.Book.Label(f.Label())
	if ok {
		data, err := forestData(s, s.Book, label, s.Total, f.Numeric(), nil)
		if err == nil {
			if ok, err = f.IsGrownFrom(ctx, data); err != nil || ok {
				return data, err
			}
		}
	}
	s.Warn(fmt.Sprintf("The forest for %s was trained on other recipes, perhaps with some of yours. So kir does not compare your recipes with the suggestions, or check the predicted gain.", f.Label()))
	return nil, nil
}

// regrowHint returns a hint that tells how to grow a forest that fits the problem. The parameter table is the
// path of the ingredients file, or empty if there is none.
func regrowHint(table string) string {
	if table != "" {
		return "grow it with kir train --ingredients " + inputerr.Quote(table)
	}
	return "grow it on these recipes with kir train"
}
