package problem

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"slices"

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

var modelKind = propertyKind{
	PropertyKind: config.ModelKind,
	compile:      compileAs(compileModel),
	compiledOnce: true,
}

// compileModel makes a property that scores the output of an imported tree ensemble.
func compileModel(ctx context.Context, s *readContext, v *config.Model, n *yaml.Node) (Property, error) {
	m, err := loadModel(ctx, s, v.File)
	if err != nil {
		return Property{}, err
	}
	output, err := chooseOutput(m, v, n)
	if err != nil {
		return Property{}, err
	}
	b := &inputMapping{readContext: s, model: m, at: n, amounts: v.Amounts.Or("share")}
	if err := b.mapInputs(v); err != nil {
		return Property{}, err
	}
	combinations, err := b.bindConditions(v.Constants.At)
	if err != nil {
		return Property{}, err
	}
	settings := slices.Concat(combinations...)
	desirability, about, err := modelDesirability(v, n, output, settings)
	if err != nil {
		return Property{}, err
	}
	var resolved yaml.Map
	resolved.CopyKeys(n, "file", "output", "class", "at_least", "at_most", "between", "maximize", "minimize", "target", "sd", "features")
	resolved.Set("amounts", b.amounts)
	resolved.CopyKeys(n, "constants", "check")
	if v.Check != nil {
		tolerance := v.Tolerance.Or(predictionTolerance)
		if err := b.checkPredictions(ctx, v.Check, tolerance, output, combinations); err != nil {
			return Property{}, err
		}
		resolved.Set("tolerance", tolerance)
	} else if v.Tolerance.At != nil {
		return Property{}, yaml.Hint(v.Tolerance.At.Errorf("there is nothing to check"), "add check: a table of the model's own predictions, or remove it")
	}
	least := v.Floor.Or(0)
	resolved.Set("floor", least)
	score := func(sums []float64) float64 { return desirability(output.valueOf(sums)) }
	var each []Property
	for _, settings := range combinations {
		each = append(each, b.outputProperty(output, settings, score, least))
	}
	p, err := b.mergeCombinations(each)
	if err != nil {
		return Property{}, err
	}
	p.About, p.resolved = fmt.Sprintf("%s of %s: %s", output.name, inputerr.Quote(v.File.Text), about), resolved
	return p, nil
}

// outputProperty returns the property of a model's output: the score of its sums, and its value or, for
// classes, their probability.
func (b *inputMapping) outputProperty(output modelOutput, settings []*ensemble.Score, score func(sums []float64) float64, least float64) Property {
	scored := importedmodel.New(settings, score, least)
	if !output.probability {
		return Property{
			property: scored,
			Value: func(x *mcmc.Composition) (v float64, at string) {
				sums, setting := scored.Sums(x)
				return output.valueOf(sums), b.describeSetting(setting)
			},
			valueScale: func() (*valueScale, error) { return modelScale(settings, output) },
		}
	}
	bare := importedmodel.New(settings, score, 0)
	return Property{
		property: scored, Class: output.class,
		classChance: func(x *mcmc.Composition) float64 { return portable.Exp(bare.LogScore(x)) },
		valueScale: func() (*valueScale, error) {
			l := scoreScale(bare)
			l.valueName, l.notation = chanceWords, asShare
			return l, nil
		},
	}
}

// modelScale returns the value scale of a number that an imported model predicts.
func modelScale(settings []*ensemble.Score, output modelOutput) (*valueScale, error) {
	if len(settings) > 1 {
		return nil, fmt.Errorf("the model is asked in %d settings of its constants, and a limit is of one", len(settings))
	}
	least, greatest := settings[0].Bounds()
	of := importedmodel.New(settings, func([]float64) float64 { return 1 }, 0)
	return &valueScale{
		valueName: modelWords,
		value: func(x *mcmc.Composition) float64 {
			sums, _ := of.Sums(x)
			return output.valueOf(sums)
		},
		asProperty: func(d *property.Desirability) (mcmc.Property, error) {
			return importedmodel.New(settings, func(sums []float64) float64 { return portable.Exp(d.Log(output.valueOf(sums))) }, 0), nil
		},
		scale: 1, width: max(math.Abs(output.valueOf(greatest)-output.valueOf(least))/20, math.SmallestNonzeroFloat64),
	}, nil
}

// loadModel reads a model's file and detects its format.
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
