package randomproblem

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Write writes the problem file and all that it names into a directory, and
// returns the path of the problem file. scorer is a program that calls [Scorer]
// when its arguments are "scorer" and an ingredient.
func (p *Problem) Write(dir, scorer string) (string, error) {
	files := map[string]string{"ingredients.csv": p.ingredientsFile()}
	if len(p.Recipes) > 0 {
		files["recipes.csv"] = p.recipesFile()
	}
	for _, w := range p.Wishes {
		for name, text := range w.files {
			files[name] = text
		}
	}
	for _, r := range p.Rules {
		for name, text := range r.files {
			files[name] = text
		}
	}
	text, err := p.YAML()
	if err != nil {
		return "", err
	}
	word, err := json.Marshal(scorer)
	if err != nil {
		return "", err
	}
	files["problem.yaml"] = strings.ReplaceAll(text, `"`+scorerCommand+`"`, string(word))
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, "problem.yaml"), nil
}

// YAML returns the problem file. Values are written as JSON, which is YAML.
func (p *Problem) YAML() (string, error) {
	var b strings.Builder
	var failed error
	value := func(v any) string {
		data, err := json.Marshal(v)
		if err != nil && failed == nil {
			failed = err
		}
		return string(data)
	}
	fmt.Fprintf(&b, "name: random problem %d\ningredients: ingredients.csv\ntotal: %d\n", p.Seed, p.Total)
	if len(p.Recipes) > 0 {
		b.WriteString("recipes: recipes.csv\nlabels: [taste, stars]\n")
	}
	fmt.Fprintf(&b, "sparsity: %s\n", value(p.Law.yaml))
	if len(p.Wishes) > 0 {
		b.WriteString("properties:\n")
		for _, w := range p.Wishes {
			fmt.Fprintf(&b, "  %s: {%s: %s, weight: %s}\n", value(w.Name), w.Kind, value(w.yaml), value(w.Weight))
		}
	}
	if len(p.Rules)+len(p.Limits) > 0 {
		b.WriteString("constraints:\n")
		for _, r := range p.Rules {
			fmt.Fprintf(&b, "  - %s\n", value(r.yaml))
			if r.also != nil {
				fmt.Fprintf(&b, "  - %s\n", value(r.also))
			}
		}
		for _, l := range p.Limits {
			fmt.Fprintf(&b, "  - %s\n", value(l.yaml))
		}
	}
	return b.String(), failed
}

func (p *Problem) ingredientsFile() string {
	rows := [][]string{{"name"}}
	for _, c := range p.Columns {
		rows[0] = append(rows[0], c.Name)
	}
	for i, name := range p.Names {
		row := []string{name}
		for _, c := range p.Columns {
			if c.Hundredths == nil {
				row = append(row, c.Text[i])
			} else {
				row = append(row, strconv.FormatFloat(float64(c.Hundredths[i])/100, 'g', -1, 64))
			}
		}
		rows = append(rows, row)
	}
	return commas(rows)
}

func (p *Problem) recipesFile() string {
	rows := [][]string{{"recipe", "ingredient", "amount", "taste", "stars"}}
	for _, r := range p.Recipes {
		for i, a := range r.Amounts {
			if a > 0 {
				rows = append(rows, []string{r.Name, p.Names[i], strconv.Itoa(a), r.Taste, strconv.Itoa(r.Stars)})
			}
		}
	}
	return commas(rows)
}
