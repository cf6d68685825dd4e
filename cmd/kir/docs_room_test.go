package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// makesProblem finds documents that make a problem file of their own.
var makesProblem = regexp.MustCompile(`(?m)^(    |\$ )kir init`)

// furnish puts into the document's directory what commands and parts of problems
// name: the examples, a table of recipes as text and as a workbook, a problem, its
// run, and a pantry of ingredients with attributes.
func (d *document) furnish(t *testing.T, text string) {
	t.Helper()
	for _, name := range []string{"examples", "docs"} {
		if err := os.Symlink(filepath.Join(d.root, name), filepath.Join(d.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, data := range furniture(t) {
		if name == "problem.yaml" && makesProblem.MatchString(text) {
			continue // it is to be made
		}
		path := filepath.Join(d.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for command, word := range map[string]string{"-o run": `\brun\b`, "-o RUN": `\bRUN\b`} {
		if makesProblem.MatchString(text) || !regexp.MustCompile(`(?m)^    kir .*`+word).MatchString(text) {
			continue
		}
		if out, err := d.shell("kir sample problem.yaml --quiet " + command); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}

// furniture are the files, by their names, that a document is furnished with. They are made
// once.
func furniture(t *testing.T) map[string]string {
	t.Helper()
	if furnitureMade == nil {
		furnitureMade = makeFurniture(t)
	}
	return furnitureMade
}

var furnitureMade map[string]string

func makeFurniture(t *testing.T) map[string]string {
	t.Helper()
	rows := longTable(t)
	rows[0] = append(rows[0], "rating", "stars")
	for i, row := range rows[1:] {
		mark := fmt.Sprint(1 + len(row[0])%5)
		rows[i+1] = append(row, mark, mark)
	}
	stock := [][]string{{"name", "family", "group", "note", "cost", "abv", "return"}}
	returns, topics := [][]string{{"name", "return"}}, [][]string{{"topic", "river", "bank", "fish"}}
	covariance := [][]string{{"name"}}
	var names []string
	for _, row := range rows[1:] {
		if !slices.Contains(names, row[1]) {
			names = append(names, row[1])
		}
	}
	for i, name := range names {
		family, abv := "spirit", "40"
		switch {
		case strings.HasPrefix(name, "L") && strings.HasSuffix(name, " juice"):
			family, abv = "citrus", "0"
		case strings.Contains(name, "bitters"):
			family, abv = "bitter", "45"
		case strings.Contains(name, "syrup") || strings.Contains(name, "juice") || name == "Soda water":
			family, abv = "soft", "0"
		}
		stock = append(stock, []string{name, family, family, []string{"top", "heart", "base"}[i%3], fmt.Sprint(1 + i%20), abv, "0.0" + fmt.Sprint(1+i%9)})
		returns = append(returns, []string{name, "0.0" + fmt.Sprint(1+i%9)})
		topics = append(topics, append([]string{name}, [][]string{{"0.5", "0.25", "0.25"}, {"0.2", "0.4", "0.4"}}[i%2]...))
		covariance[0] = append(covariance[0], name)
		row := []string{name}
		for j := range names {
			row = append(row, map[bool]string{true: "0.04", false: "0.01"}[i == j])
		}
		covariance = append(covariance, row)
	}
	prices := [][]string{append([]string{"date"}, names...)}
	for t, day := range []string{"2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30"} {
		row := []string{day}
		for i := range names {
			row = append(row, fmt.Sprintf("%.2f", 50+float64(i)+float64((t+1)*(i%7))/10))
		}
		prices = append(prices, row)
	}
	german := mapped(rows, rows[0], func(row []string) []string {
		row[2] = strings.ReplaceAll(row[2], ".", ",")
		return row
	})
	return map[string]string{
		"recipes.csv":           joined(t, rows, ','),
		"recipes.xlsx":          string(workbookOf(t, rows, "0.0")),
		"tonight.xlsx":          string(workbookOf(t, longTable(t), "0.0")),
		"problem.yaml":          "name: bar\nrecipes: recipes.csv\ntotal: 100\nsampler: {draws: 400, warmup: 200, seed: 1}\nsearch: {effort: 0.1}\n",
		"pantry/recipes.csv":    joined(t, rows, ','),
		"pantry/bar.csv":        joined(t, german, ';'),
		"pantry/stock.csv":      joined(t, stock, ','),
		"pantry/returns.csv":    joined(t, returns, ','),
		"pantry/prices.csv":     joined(t, prices, ','),
		"pantry/covariance.csv": joined(t, covariance, ','),
		"pantry/topics.csv":     joined(t, topics, ','),
		"pantry/words.csv":      "word,count\nriver,3\nbank,1\n",
		"pantry/scorer.py":      "",
		"pantry/problem.yaml":   "recipes: recipes.csv\ningredients: stock.csv\nunits: {piece: 5 cl}\ntotal: 1000\n",
	}
}
