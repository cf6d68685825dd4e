package compile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/file"
	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/mcmc"
)

// ResultsPath returns the path of the results file of a problem's campaign. It is next to the problem file and
// has a similar name.
func ResultsPath(problem string) string { return SiblingPath(problem, "results.csv") }

// SiblingPath returns the path of a file next to a problem file. Its name is that of the problem file with
// another ending, such as problem.results.csv.
func SiblingPath(problem, ending string) string {
	for _, ext := range []string{".yaml", ".yml"} {
		problem = strings.TrimSuffix(problem, ext)
	}
	return problem + "." + ending
}

// readRecipes reads the known recipes from the tables that the problem file names, and from the results file of
// the campaign. It adds ingredients that only recipes name to the ingredients of the problem.
func (s *loader) readRecipes(ctx context.Context, file *config.Problem) error {
	root := file.Root
	n := root.Get("recipes")
	results, err := s.findResults(root)
	if err != nil {
		return err
	}
	if n == nil && results == nil {
		for _, key := range []string{"labels", "units"} {
			if f := root.Get(key); f != nil && !s.defersLearning {
				return yaml.Hint(f.Errorf("%s are of recipes, and the problem has none", key), "add recipes: a CSV file, or remove this")
			}
		}
	}
	options := dataset.Options{Ingredients: s.Attributes}
	var labelAt map[string]*yaml.Node
	if file.LabelsError != nil {
		return file.LabelsError
	}
	options.Labels, labelAt = file.LabelNodes()
	for _, c := range file.Conditions {
		if labelAt[c.Name] != nil {
			return yaml.Hint(c.KeyNode.Errorf("%s is a label and a condition", inputerr.Quote(c.Name)), "a condition is set, and a label is measured: keep one of them")
		}
		options.Labels, options.Conditions = append(options.Labels, c.Name), append(options.Conditions, c.Name)
		labelAt[c.Name] = c.KeyNode
	}
	if s.Units, err = readUnits(root.Get("units")); err != nil {
		return err
	}
	options.Units = s.Units
	if n == nil && results == nil {
		return nil
	}
	var books []*dataset.Book
	var tables []*yaml.Node
	if n != nil {
		tables = n.ItemsOrSelf()
		if n.Kind == yaml.Sequence && len(tables) == 0 {
			return yaml.Hint(n.Errorf("the list of recipes is empty"), "name at least one table")
		}
	}
	options.LabelsOptional = len(tables) > 1 || results != nil
	named := false
	for _, table := range tables {
		file, layout, err := config.ReadTableNode(table, true)
		if err != nil {
			return err
		}
		if results != nil && s.isSameFile(file, results) {
			named = true // results are read below, once
			continue
		}
		one := options
		one.Layout = layout
		known, err := s.readBook(ctx, file, one, labelAt)
		if err != nil {
			return err
		}
		s.WarnGuesses("recipes", file.Text, layout, known.GuessedLayout, known.Notes)
		books = append(books, known)
	}
	if results != nil {
		known, err := s.readBook(ctx, results, options, labelAt)
		if err != nil {
			return err
		}
		if known.Results == nil {
			return &inputerr.Error{File: filepath.Join(s.Files.Dir, results.Text), Message: "this is no file of results", Hint: "kir record writes it; give another table another name"}
		}
		books = append(books, known)
		if !named {
			s.resultsPath = results.Text
		}
	}
	all := books[0]
	if len(books) > 1 {
		all = dataset.Join(books...)
	}
	if options.LabelsOptional {
		if err := s.checkLabelsExist(all, options.Labels, labelAt); err != nil {
			return err
		}
	}
	if err := s.extractConditionColumns(all); err != nil {
		return err
	}
	s.Attributes = all.Ingredients
	s.IngredientNames = all.Ingredients.Names
	s.results = all.Results
	if len(all.Recipes) == 0 {
		return nil // all recorded results are withdrawn
	}
	s.Book = all
	s.Recipes = make([][]mcmc.Part, len(all.Recipes))
	// Results must not change which recipes the rules allow.
	if s.RuleRecipes = len(all.Recipes); results != nil && len(books) > 1 {
		s.RuleRecipes -= len(books[len(books)-1].Recipes)
	}
	for r := range all.Recipes {
		amounts, err := all.Closure(r, s.Total)
		if err != nil {
			return err
		}
		for k, p := range all.Recipes[r].Parts {
			s.Recipes[r] = append(s.Recipes[r], mcmc.Part{Ingredient: int(p.Ingredient), Amount: amounts[k]})
		}
	}
	return nil
}

// readBook reads the table of recipes that a node names. If the table lacks a label, readBook still reads the
// rest of the table to find its other errors. The map labelNodes has the YAML node of each label in the problem
// file.
func (s *loader) readBook(ctx context.Context, file *yaml.Node, o dataset.Options, labelNodes map[string]*yaml.Node) (known *dataset.Book, err error) {
	read := func(o dataset.Options) (known *dataset.Book, err error) {
		err = s.Files.Read(ctx, file, "the file of recipes", func(r io.Reader, path string) (err error) {
			known, err = dataset.Read(r, path, o)
			return err
		})
		return known, err
	}
	for {
		if known, err = read(o); err != nil {
			err = dataset.TryFixes(err, o, read)
		} else {
			if s.tableReaders == nil {
				s.tableReaders = make(map[string]tableReader)
			}
			s.tableReaders[known.File] = tableReader{o, read}
		}
		var bad *inputerr.Error
		missing := (*dataset.MissingColumnError)(nil)
		if !errors.As(err, &missing) || !errors.As(err, &bad) || labelNodes[missing.Name] == nil {
			return known, err
		}
		if !s.defersLearning {
			if err := s.diagnostics.Add(s.missingLabelError(labelNodes[missing.Name], missing.Name, bad.Hint)); err != nil {
				return nil, err
			}
		}
		o.Labels = slices.DeleteFunc(slices.Clone(o.Labels), func(name string) bool { return name == missing.Name })
	}
}

// missingLabelError returns the error that no table of recipes has the column of a label or of a condition. It
// returns nil for a condition that needs no column.
func (s *loader) missingLabelError(at *yaml.Node, name, hint string) error {
	if k := slices.IndexFunc(s.Conditions, func(c config.Condition) bool { return c.Name == name }); k >= 0 {
		if s.Conditions[k].IsConstantList {
			return nil
		}
		return yaml.Hint(at.Errorf("the recipes have no column for the condition %s", inputerr.Quote(name)), "%s", hint)
	}
	return yaml.Hint(at.Errorf("the recipes have no label %s", inputerr.Quote(name)), "%s", hint)
}

// checkLabelsExist adds an error for each label that none of the tables has. The map labelNodes has the YAML
// node of each label in the problem file.
func (s *loader) checkLabelsExist(all *dataset.Book, labels []string, labelNodes map[string]*yaml.Node) error {
	for _, name := range labels {
		if _, ok := all.Label(name); ok || s.defersLearning {
			continue
		}
		var names []string
		for _, l := range all.Labels {
			names = append(names, l.Name)
		}
		hint := inputerr.DidYouMean(name, names)
		if hint == "" {
			hint = labelNamesHint(all)
		}
		if err := s.diagnostics.Add(s.missingLabelError(labelNodes[name], name, hint)); err != nil {
			return err
		}
	}
	return nil
}

// findResults returns a YAML node with the name of the results file next to the problem file. It returns nil if
// there is no results file.
func (s *loader) findResults(root *yaml.Node) (*yaml.Node, error) {
	if s.path == "" {
		return nil, nil
	}
	path := ResultsPath(s.path)
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, file.NotRegularError(path, info.Mode())
	}
	if in := root.Get("ingredients"); in != nil && in.Get("count") != nil {
		return nil, yaml.Hint(in.Errorf("counted ingredients have no names that results could use"), "list their names, or remove %s", path)
	}
	return root.Scalar(filepath.Base(path)), nil
}

// isSameFile reports whether the names in two nodes refer to the same file.
func (s *loader) isSameFile(a, b *yaml.Node) bool {
	at := func(n *yaml.Node) string {
		if filepath.IsAbs(n.Text) {
			return n.Text
		}
		return filepath.Join(s.Files.Dir, n.Text)
	}
	first, err := os.Stat(at(a))
	if err != nil {
		return false
	}
	second, err := os.Stat(at(b))
	return err == nil && os.SameFile(first, second)
}

// maxSpellingWarnings is the maximum number of warnings about ingredients whose names differ only in
// spelling.
const maxSpellingWarnings = 5

// warnSpellingVariants warns about ingredients whose names differ only in spelling and may mean the same
// ingredient. It keeps both ingredients, because only the user can decide.
func (s *loader) warnSpellingVariants() {
	if s.Attributes == nil {
		return // ingredients are only counted
	}
	groups := dataset.SpellingVariants(s.IngredientNames)
	for _, names := range groups[:min(len(groups), maxSpellingWarnings)] {
		quoted := make([]string, len(names))
		for k, name := range names {
			quoted[k] = inputerr.Quote(name)
		}
		s.Warn(fmt.Sprintf("kir takes %s for different ingredients. If they are the same, spell them alike.", strings.Join(quoted, " and ")))
	}
	if more := len(groups) - maxSpellingWarnings; more > 0 {
		s.Warn(fmt.Sprintf("%d more groups of ingredients differ in case or space only.", more))
	}
}

// readUnits returns the units of amounts: the default units, changed and extended by the units in the problem
// file. It returns nil if the file has no units.
func readUnits(n *yaml.Node) (*measure.Units, error) {
	if n == nil {
		return nil, nil
	}
	if n.Kind != yaml.Mapping {
		return nil, yaml.Hint(n.Errorf("units are %s", n.Describe()), "write the size of each, such as {dash: 0.1 cl}")
	}
	units := measure.DefaultUnits()
	for _, e := range n.Entries {
		size, err := e.Value.Str("the size of " + inputerr.Quote(e.Key.Text))
		if err != nil {
			return nil, err
		}
		if units, err = units.With(e.Key.Text, size); err != nil {
			return nil, yaml.Hint(e.Value.Errorf("the size of %s is not understood", inputerr.Quote(e.Key.Text)), "%v", err)
		}
	}
	return units, nil
}
