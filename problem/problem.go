// Package problem reads a problem file: what to choose from, how much of it,
// and what is wished for. It turns the file into a target that can be sampled
// and the settings to sample it with, and it is where all input is checked:
// what is wrong comes back as a [fault.Error] with file, line and column.
//
// The file is YAML. Paths in it are relative to it.
//
//	name: Fresh all-day cocktails
//	recipes: recipes.csv
//	ingredients: ingredients.csv
//	total: 1000
//	sparsity: recipes
//	properties:
//	  taste: {forest: {label: taste, want: Fresh}}
//	sampler: {chains: 4, draws: 100000, seed: 1}
//
// total is always needed, and recipes or ingredients; all else has a default.
package problem

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"kir"
	"kir/fault"
	"kir/recipe"
)

// A Problem is a problem file that was read and checked, with all that it
// names.
type Problem struct {
	Name        string
	File        string  // the path it was read from
	Inputs      []Input // every file that was read, the problem file first
	Ingredients []string
	Total       int          // M, in units
	Book        *recipe.Book // the known recipes; nil if there are none
	Properties  []Property   // in the file's order
	Rules       []Rule       // in the file's order
	Target      *kir.Target
	Sampler     kir.Settings
	Auto        bool // the sampler's kernel was chosen, not named
	Search      Search
	Resolved    []byte   // the file with every default written out, as YAML
	Warnings    []string // what is allowed and yet worth knowing

	closers     []io.Closer
	ingredients *recipe.Ingredients // with attributes; nil if only counted
	known       [][]kir.Part        // the recipes, closed to the total
}

// Close ends what the properties have running: other programs. The target cannot
// be scored after it.
func (p *Problem) Close() error {
	var errs []error
	for _, c := range p.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// Explain writes the composition in a [kir.ScoreError] with the names of the
// problem's ingredients, and leaves other errors as they are.
func (p *Problem) Explain(err error) error {
	var score *kir.ScoreError
	if !errors.As(err, &score) || len(score.Parts) == 0 {
		return err
	}
	const most = 12
	var b strings.Builder
	for k, part := range score.Parts {
		if k == most {
			fmt.Fprintf(&b, " and %d more", len(score.Parts)-most)
			break
		}
		if k > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d %s", part.Amount, fault.Quote(p.Ingredients[part.Ingredient]))
	}
	return &explainedError{strings.Replace(err.Error(), score.State, b.String(), 1), err}
}

// An explainedError is another error in the problem's words.
type explainedError struct {
	text string
	err  error
}

func (e *explainedError) Error() string { return e.text }
func (e *explainedError) Unwrap() error { return e.err }

// Options are what a reader is told beside the file.
type Options struct {
	// Override changes the settings that the file gives, as flags do. It may
	// be nil.
	Override func(*kir.Settings)

	// Kernel chooses the kernel of a problem, whose Sampler and Target it is given,
	// that names none or says auto; nil: exact where that can be, else balanced.
	Kernel func(ctx context.Context, p *Problem) (string, error)

	// Within adds a rule that keeps the amounts of all ingredients within those of
	// the known recipes, to try what that brings.
	Within bool

	// Effort is that of the search instead of what the file says; nil: as it says.
	Effort *float64

	// Workers is how many goroutines grow forests; it changes nothing but the
	// time. 0 means all cores.
	Workers int

	// Tell is told what the user should know while the problem is sampled and
	// that does not end the run, such as that a program was started again. It
	// may be called from several goroutines, and may be nil.
	Tell func(message string)
}

// loader reads one problem.
type loader struct {
	ctx     context.Context
	problem *Problem
	dir     string
	options Options

	data        []byte // the problem file
	fields      map[string]*node
	root        *node
	ingredients *recipe.Ingredients // with attributes, or nil if only counted
	laws        int                 // sparsity laws that were read, mixed ones included
	rows        [][]kir.Part        // the recipes, closed to the total
	ruleOf      []*Rule             // which of the problem's rules each of the set is of
}

// Load reads, checks and resolves a problem. Bad input is a [fault.Error]. The
// problem is to be closed when it is no longer needed.
func Load(ctx context.Context, path string, o Options) (p *Problem, err error) {
	l := &loader{ctx: ctx, problem: &Problem{File: path}, dir: filepath.Dir(path), options: o}
	defer func() {
		if err != nil {
			l.problem.Close() // programs that were started and are of no more use
		}
	}()
	if l.data, err = l.readInput(path, largestProblem); err != nil {
		return nil, err
	}
	if l.root, err = parse(path, l.data); err != nil {
		return nil, err
	}
	if l.fields, err = l.root.fields("a problem",
		"name", "recipes", "labels", "units", "ingredients", "total", "sparsity", "properties", "constraints", "sampler", "search"); err != nil {
		return nil, err
	}
	for _, step := range []func() error{
		l.readName,
		l.readSearch,
		l.readSampler, // before the files, whose reading takes longest
		l.readTotal,
		l.readIngredients,
		l.readRecipes,
		l.compareNames,
		l.readConstraints,
		l.readTarget,
		l.resolve,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	l.problem.ingredients, l.problem.known = l.ingredients, l.rows
	return l.problem, nil
}

// readName reads the name. Without one the problem is called after its file,
// or after its directory if the file is just problem.yaml.
func (l *loader) readName() (err error) {
	l.problem.Name = strings.TrimSuffix(filepath.Base(l.problem.File), filepath.Ext(l.problem.File))
	if abs, err := filepath.Abs(l.problem.File); err == nil && l.problem.Name == "problem" {
		l.problem.Name = filepath.Base(filepath.Dir(abs))
	}
	if n := l.fields["name"]; n != nil {
		l.problem.Name, err = n.str("the name")
	}
	return err
}

func (l *loader) readTotal() (err error) {
	n := l.fields["total"]
	if n == nil {
		return hint(l.root.errorf("the problem has no total"), "add total: how many units a composition divides, such as 1000 for steps of 0.1 %%")
	}
	l.problem.Total, err = n.whole("the total", 1, math.MaxInt32)
	return err
}

// mostIngredients bounds what a count may ask for.
const mostIngredients = 10_000_000

// countedNames returns the names of ingredients that are only counted. They are
// parts of one text, as there may be a million.
func countedNames(count int) []string {
	const prefix = "ingredient "
	var all strings.Builder
	all.Grow(count * (len(prefix) + len(strconv.Itoa(count))))
	for k := range count {
		all.WriteString(prefix)
		all.WriteString(strconv.Itoa(k + 1))
	}
	text := all.String()
	names := make([]string, count)
	for k := range names {
		end := len(prefix) + len(strconv.Itoa(k+1))
		names[k], text = text[:end], text[end:]
	}
	return names
}

func (l *loader) readIngredients() error {
	n := l.fields["ingredients"]
	if n == nil {
		if l.fields["recipes"] == nil {
			return hint(l.root.errorf("the problem has neither recipes nor ingredients"), "add recipes: a CSV file, or ingredients: a CSV file, a list of names, or {count: 2000}")
		}
		return nil
	}
	switch n.kind {
	case text:
		if err := l.readIngredientsFile(n, recipe.Layout{}); err != nil {
			return err
		}
	case sequence:
		names := make([]string, len(n.items))
		for k, item := range n.items {
			name, err := item.str("an ingredient")
			if err != nil {
				return err
			}
			names[k] = name
		}
		if len(names) == 0 {
			return hint(n.errorf("the list of ingredients is empty"), "name at least one")
		}
		in, err := recipe.NewIngredients(names...)
		if err != nil {
			return n.errorf("%v", err)
		}
		l.ingredients = in
	case mapping:
		if n.get("file") != nil {
			file, layout, err := tableAt(n, false)
			if err != nil {
				return err
			}
			if err := l.readIngredientsFile(file, layout); err != nil {
				return err
			}
			break
		}
		f, err := n.fields("the ingredients", "count")
		if err != nil {
			return err
		}
		if f["count"] == nil {
			return hint(n.errorf("the ingredients have no count"), "write {count: 2000}")
		}
		if l.fields["recipes"] != nil {
			return hint(n.errorf("counted ingredients have no names that recipes could use"), "leave the ingredients out, list their names, or name a CSV file")
		}
		count, err := f["count"].whole("the count", 1, mostIngredients)
		if err != nil {
			return err
		}
		l.problem.Ingredients = countedNames(count)
		return nil
	default:
		return hint(n.errorf("the ingredients are %s", n.shown()), "write a CSV file, a list of names, or {count: 2000}")
	}
	l.problem.Ingredients = l.ingredients.Names
	return nil
}

func (l *loader) readRecipes() error {
	n := l.fields["recipes"]
	if n == nil {
		for _, key := range []string{"labels", "units"} {
			if f := l.fields[key]; f != nil {
				return hint(f.errorf("%s are of recipes, and the problem has none", key), "add recipes: a CSV file, or remove this")
			}
		}
		return nil
	}
	options := recipe.Options{Ingredients: l.ingredients}
	labels, labelAt, err := l.labels()
	if err != nil {
		return err
	}
	options.Labels = labels
	file, layout, err := tableAt(n, true)
	if err != nil {
		return err
	}
	options.Layout = layout
	if options.Units, err = l.units(); err != nil {
		return err
	}
	var book *recipe.Book
	err = l.readNamed(file, "the file of recipes", func(r io.Reader, path string) (err error) {
		book, err = recipe.Read(r, path, options)
		return err
	})
	if err != nil {
		var bad *fault.Error
		if missing := (*recipe.NoLabelError)(nil); errors.As(err, &missing) && errors.As(err, &bad) && labelAt[missing.Name] != nil {
			return hint(labelAt[missing.Name].errorf("the recipes have no label %s", fault.Quote(missing.Name)), "%s", bad.Hint)
		}
		return err
	}
	l.problem.Book = book
	l.tellGuesses("recipes", file.text, layout, book.Guessed, book.Notes)
	l.ingredients = book.Ingredients
	l.problem.Ingredients = book.Ingredients.Names
	l.rows = make([][]kir.Part, len(book.Recipes))
	for r := range book.Recipes {
		amounts, err := book.Closure(r, l.problem.Total)
		if err != nil {
			return err
		}
		for k, p := range book.Recipes[r].Parts {
			l.rows[r] = append(l.rows[r], kir.Part{Ingredient: int(p.Ingredient), Amount: amounts[k]})
		}
	}
	return nil
}

// mostAlike is of how many groups of names that are alike a warning tells.
const mostAlike = 5

// compareNames warns of ingredients that may be one, spelt in two ways. Both
// are kept: it is not for a reader to say which are one.
func (l *loader) compareNames() error {
	if l.ingredients == nil {
		return nil // they are only counted
	}
	groups := recipe.Alike(l.problem.Ingredients)
	for _, names := range groups[:min(len(groups), mostAlike)] {
		quoted := make([]string, len(names))
		for k, name := range names {
			quoted[k] = fault.Quote(name)
		}
		l.problem.Warnings = append(l.problem.Warnings, fmt.Sprintf("%s are taken for different ingredients. If they are one, spell it in one way.", strings.Join(quoted, " and ")))
	}
	if more := len(groups) - mostAlike; more > 0 {
		l.problem.Warnings = append(l.problem.Warnings, fmt.Sprintf("%d more groups of ingredients differ in case or space only.", more))
	}
	return nil
}

// labels returns the label columns that the problem names, and where: under
// labels, and in the properties that learn one.
func (l *loader) labels() (names []string, at map[string]*node, err error) {
	at = make(map[string]*node)
	add := func(n *node, what string) error {
		name, err := n.str(what)
		if err != nil {
			return err
		}
		if name = recipe.Name(name); at[name] == nil {
			names = append(names, name)
			at[name] = n
		}
		return nil
	}
	if n := l.fields["properties"]; n != nil {
		for _, p := range n.entries {
			if f := p.value.get("forest"); f != nil && f.get("label") != nil && f.get("file") == nil {
				if err := add(f.get("label"), "the label"); err != nil {
					return nil, nil, err
				}
			}
		}
	}
	if n := l.fields["labels"]; n != nil {
		items, err := n.list("labels")
		if err != nil {
			return nil, nil, err
		}
		for _, item := range items {
			if err := add(item, "a label"); err != nil {
				return nil, nil, err
			}
		}
	}
	return names, at, nil
}

// units returns the book's units: the usual ones, and those that the problem
// adds or sizes otherwise.
func (l *loader) units() (*recipe.Units, error) {
	n := l.fields["units"]
	if n == nil {
		return nil, nil
	}
	if n.kind != mapping {
		return nil, hint(n.errorf("units are %s", n.shown()), "write the size of each, such as {dash: 0.1 cl}")
	}
	units := recipe.DefaultUnits()
	for _, e := range n.entries {
		size, err := e.value.str("the size of " + fault.Quote(e.key.text))
		if err != nil {
			return nil, err
		}
		if units, err = units.With(e.key.text, size); err != nil {
			return nil, hint(e.value.errorf("the size of %s is not understood", fault.Quote(e.key.text)), "%v", err)
		}
	}
	return units, nil
}

// mostUsed bounds min(N, M): every law of the number of ingredients, and every
// figure about it, has as many values.
const mostUsed = 1 << 20

func (l *loader) readTarget() error {
	p := l.problem
	plain, err := kir.NewSpace(len(p.Ingredients), p.Total)
	if err != nil {
		return l.root.errorf("%v", err)
	}
	if most := plain.MaxUsed(); most > mostUsed {
		return hint(l.fields["total"].errorf("%d ingredients and a total of %d units allow compositions of up to %d: the law of their number is kept for %d at most", plain.N(), p.Total, most, mostUsed), "lower the total, or the number of ingredients")
	}
	law, at, err := l.sparsity(plain)
	if err != nil {
		return err
	}
	space, err := l.space(plain, law, at)
	if err != nil {
		return err
	}
	if err := l.readProperties(); err != nil {
		return err
	}
	wishes := make([]kir.Wish, len(p.Properties))
	for k, w := range p.Properties {
		wishes[k] = kir.Wish{Name: w.Name, Property: w.property, Weight: w.Weight}
	}
	if p.Target, err = kir.NewTarget(space, law, wishes...); err != nil {
		return at.errorf("%v", err)
	}
	if err := l.chooseKernel(); err != nil {
		return err
	}
	if _, err := kir.NewKernel(p.Sampler.Kernel, p.Target); err != nil {
		var score *kir.ScoreError
		if errors.As(err, &score) {
			return p.Explain(err)
		}
		return at.errorf("%v", err)
	}
	return nil
}
