package randomproblem

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// scorerCommand stands in a problem for the program that scores; see
// [Problem.Write].
const scorerCommand = "SCORER"

// programScore is what the program says of a recipe with so many units of the
// ingredient it is about.
func programScore(units int) float64 { return math.Ldexp(1, -min(units, 20)) }

// Scorer is the program that wishes of the kind program run: for each line, a JSON
// array of recipes, it answers the scores by the ingredient.
func Scorer(in io.Reader, out io.Writer, ingredient string) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var batch []map[string]int
		if err := json.Unmarshal(lines.Bytes(), &batch); err != nil {
			return err
		}
		scores := make([]float64, len(batch))
		for k, recipe := range batch {
			scores[k] = programScore(recipe[ingredient])
		}
		answer, err := json.Marshal(scores)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s\n", answer); err != nil {
			return err
		}
	}
	return lines.Err()
}

// drawProgram draws a wish that a program scores: 2^−(units of one ingredient), or
// a floor; see [Scorer].
func (p *Pantry) drawProgram(d dice, w *Wish) {
	i := d.IntN(len(p.Names))
	w.Weight = one(d, 0.5, 1, 2)
	w.yaml = map[string]any{"command": []string{scorerCommand, "scorer", p.Names[i]}}
	w.log = func(x []int) float64 { return math.Log(programScore(x[i])) }
}
