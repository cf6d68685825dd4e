package compile

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/ensemble"
	"kir/internal/ensemble/lightgbm"
	"kir/internal/ensemble/onnx"
	"kir/internal/ensemble/xgboost"
	"kir/internal/importedmodel"
	"kir/internal/inputerr"
	"kir/internal/portable"
	"kir/mcmc"
	"kir/property"
)

// modelKind is the kind of property that an imported model predicts.
var modelKind = propertyKind{
	PropertyKind: config.ModelKind,
	compile:      withValueType(compileModel),
	compiledOnce: true,
}

// compileModel makes a property that scores an output of an imported tree ensemble.
func compileModel(ctx context.Context, s *readContext, v *config.Model, n *yaml.Node) (Property, error) {
	m, err := loadModel(ctx, s, v.File)
	if err != nil {
		return Property{}, err
	}
	output, err := chooseOutput(m, v, n)
	if err != nil {
		return Property{}, err
	}
	b := &inputMapping{readContext: s, model: m, node: n, defaultMeasure: v.Amounts.Or("share")}
	if err := b.mapInputs(v); err != nil {
		return Property{}, err
	}
	combinations, err := b.bindConditions()
	if err != nil {
		return Property{}, err
	}
	desirability, about, err := modelDesirability(v, n, output, combinations)
	if err != nil {
		return Property{}, err
	}
	var resolved yaml.Map
	resolved.CopyKeys(n, "file", "output", "class", "at_least", "at_most", "between", "maximize", "minimize", "target", "sd", "features")
	resolved.Set("amounts", b.defaultMeasure)
	resolved.CopyKeys(n, "constants", "check")
	if v.Check != nil {
		tolerance := v.Tolerance.Or(predictionTolerance)
		if err := b.checkPredictions(ctx, v.Check, tolerance, output, combinations); err != nil {
			return Property{}, err
		}
		resolved.Set("tolerance", tolerance)
	} else if v.Tolerance.Node != nil {
		return Property{}, yaml.Hint(v.Tolerance.Node.Errorf("there is nothing to check"), "add check: a table of the model's own predictions, or remove it")
	}
	least := v.Floor.Or(0)
	resolved.Set("floor", least)
	score := func(sums []float64) float64 { return desirability(output.valueOf(sums)) }
	var each []Property
	for _, bound := range combinations {
		each = append(each, outputProperty(output, bound, score, least))
	}
	p, err := b.mergeCombinations(each)
	if err != nil {
		return Property{}, err
	}
	p.About, p.resolvedValue = fmt.Sprintf("%s of %s: %s", output.name, inputerr.Quote(v.File.Text), about), resolved
	return p, nil
}

// outputProperty returns the property that scores an output of a model. The parameter bound is the model with
// the inputs for one combination of values of conditions. The function score computes the score from the sums
// over the trees. The parameter floor is the minimum of the score.
func outputProperty(output modelOutput, bound *ensemble.Score, score func(sums []float64) float64, floor float64) Property {
	scored := importedmodel.New(bound, score, floor)
	if !output.isProbability {
		return Property{
			mcmcProperty:  scored,
			Value:         func(x *mcmc.Composition) float64 { return output.valueOf(scored.Sums(x)) },
			newValueScale: func() (*valueScale, error) { return modelValueScale(bound, output), nil },
		}
	}
	bare := importedmodel.New(bound, score, 0)
	return Property{
		mcmcProperty: scored, Class: output.classText,
		importedClassChance: func(x *mcmc.Composition) float64 { return portable.Exp(bare.LogScore(x)) },
		newValueScale: func() (*valueScale, error) {
			l := scoreValueScale(bare)
			l.valueName, l.notation = classChanceName, shareNotation
			return l, nil
		},
	}
}

// modelValueScale returns the value scale of a number that an imported model predicts.
func modelValueScale(bound *ensemble.Score, output modelOutput) *valueScale {
	least, greatest := bound.SumBounds()
	return &valueScale{
		valueName:   modelNumberName,
		scoredValue: func(x *mcmc.Composition) float64 { return output.valueOf(bound.Sums(x.Amounts())) },
		asProperty: func(d *property.Desirability) (mcmc.Property, error) {
			return importedmodel.New(bound, func(sums []float64) float64 { return portable.Exp(d.Log(output.valueOf(sums))) }, 0), nil
		},
		shownFactor: 1, typicalSpread: max(math.Abs(output.valueOf(greatest)-output.valueOf(least))/20, math.SmallestNonzeroFloat64),
	}
}

// loadModel reads the model in a file. It detects the format of the file: ONNX, XGBoost or LightGBM.
func loadModel(ctx context.Context, s *readContext, n *yaml.Node) (m *ensemble.Model, err error) {
	err = s.Files.Read(ctx, n, "the file of the model", func(r io.Reader, _ string) (err error) {
		b := bufio.NewReader(r)
		start, _ := b.Peek(64)
		switch start = bytes.TrimLeft(start, " \t\r\n"); {
		case bytes.HasPrefix(start, []byte("tree")):
			m, err = lightgbm.Read(b)
		case bytes.HasPrefix(start, []byte("{")):
			m, err = xgboost.Read(b)
		default:
			m, err = onnx.Read(b)
		}
		if err != nil && ctx.Err() == nil {
			err = yaml.Hint(n.Errorf("%s is no model that can be used: %v", inputerr.Quote(n.Text), err), "it can be ONNX, XGBoost's JSON or UBJSON, or LightGBM's text")
		}
		return err
	})
	return m, err
}
