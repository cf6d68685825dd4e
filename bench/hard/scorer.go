package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"math"
	"path/filepath"

	"kir/internal/compile"
	"kir/mcmc"
)

// scorerMode is the argument that makes this program a scorer of recipes, as the
// property program runs it, of so many units.
const (
	scorerMode  = "score"
	scorerTotal = 50
)

// scoreRecipes answers each line of recipes with a line of how fresh they taste.
func scoreRecipes(in io.Reader, out io.Writer) error {
	p, err := compile.Load(context.Background(), filepath.Join("examples", "cocktails", "problem.yaml"), compile.Options{})
	if err != nil {
		return err
	}
	taste := p.Target.Objectives()[0].Property
	index := make(map[string]int)
	for i, name := range p.Ingredients {
		index[name] = i
	}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var recipes []map[string]int
		if err := json.Unmarshal(line, &recipes); err != nil {
			return err
		}
		scores := make([]float64, len(recipes))
		for k, recipe := range recipes {
			var parts []mcmc.Part
			for name, units := range recipe {
				parts = append(parts, mcmc.Part{Ingredient: index[name], Amount: units * p.Target.Space().Total() / scorerTotal})
			}
			x, err := mcmc.NewComposition(len(p.Ingredients), parts...)
			if err != nil {
				return err
			}
			scores[k] = math.Exp(taste.LogScore(x))
		}
		answer, err := json.Marshal(scores)
		if err != nil {
			return err
		}
		if _, err := out.Write(append(answer, '\n')); err != nil {
			return err
		}
	}
}
