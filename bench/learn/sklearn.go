package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"kir/model"
)

//go:embed reference.py
var sklearn string

// sklearnModels are the models of scikit-learn by the names that the script has.
func sklearnModels() []string {
	return []string{"sklearn GP", "sklearn ExtraTrees", "sklearn forest"}
}

// A pythonBook is a book for the script.
type pythonBook struct {
	Name        string         `json:"name"`
	Ingredients int            `json:"ingredients"`
	Rows        [][][2]float64 `json:"rows"` // ingredient and share
	Numbers     []float64      `json:"numbers"`
	Classes     []string       `json:"classes"`
	Splits      []split        `json:"splits"`
}

// sklearnReady says why Python cannot be asked.
func sklearnReady(ctx context.Context, python string) error {
	out, err := exec.CommandContext(ctx, python, "-I", "-c", "import sklearn, scipy").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s has no scikit-learn, on Debian apt-get install python3-sklearn: %w: %s", python, err, bytes.TrimSpace(out))
	}
	return nil
}

// askSklearn has scikit-learn's models make their forecasts of the books' splits.
func askSklearn(ctx context.Context, python string, models []string, books []*known, splits map[string][]split, take func(book, model string, split int, f []forecast)) error {
	var in bytes.Buffer
	e := json.NewEncoder(&in)
	if err := e.Encode(models); err != nil {
		return err
	}
	for _, k := range books {
		if err := e.Encode(pythonBookOf(k.name, k.data, splits[k.name])); err != nil {
			return err
		}
	}
	c := exec.CommandContext(ctx, python, "-I", "-c", sklearn)
	c.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
	c.Stdin, c.Stderr = &in, os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	for d := json.NewDecoder(out); ; {
		var answer struct {
			Book, Model string
			Split       int
			Forecasts   []forecast
		}
		if err := d.Decode(&answer); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return errors.Join(err, c.Wait())
		}
		take(answer.Book, answer.Model, answer.Split, answer.Forecasts)
	}
	return c.Wait()
}

func pythonBookOf(name string, d *model.Data, splits []split) pythonBook {
	b := pythonBook{Name: name, Ingredients: len(d.Ingredients), Numbers: d.Numbers, Classes: d.Classes, Splits: splits}
	for _, row := range d.Rows {
		parts := make([][2]float64, len(row))
		for k, p := range row {
			parts[k] = [2]float64{float64(p.Ingredient), float64(p.Amount) / float64(d.Total)}
		}
		b.Rows = append(b.Rows, parts)
	}
	return b
}
