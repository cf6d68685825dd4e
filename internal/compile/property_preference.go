package compile

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/internal/number"
	"kir/mcmc"
	"kir/property"
)

// preferenceKind is the kind of property that is learnt from comparisons of two recipes.
var preferenceKind = propertyKind{
	PropertyKind:     config.PreferenceKind,
	compile:          withValueType(compilePreference),
	scoresEverySplit: alwaysScoresEverySplit,
}

// compilePreference makes a property that scores a preference learnt from comparisons of two recipes.
func compilePreference(ctx context.Context, s *readContext, v *config.Preference, n *yaml.Node) (Property, error) {
	var pairs []property.Pair
	err := s.Files.Read(ctx, v.Pairs, "the file of comparisons", func(r io.Reader, path string) (err error) {
		pairs, err = readComparisons(s, r, path)
		return err
	})
	if err != nil {
		return Property{}, err
	}
	first := v.First.Or(len(pairs))
	if first > len(pairs) {
		return Property{}, yaml.Hint(v.First.Node.Errorf("the first %d comparisons count, and there are %d", first, len(pairs)), "leave it out for all")
	}
	pairs = pairs[:first]
	of, err := groupIndexByIngredient(s, v.Groups)
	if err != nil {
		return Property{}, err
	}
	learnt, err := property.NewComparisons(len(s.IngredientNames), s.Total, of, pairs)
	if err != nil {
		return Property{}, v.Pairs.PlaceError(err)
	}
	held, err := property.CrossValidate(len(s.IngredientNames), s.Total, of, pairs)
	if err != nil {
		return Property{}, v.Pairs.PlaceError(err)
	}
	var resolved yaml.Map
	resolved.CopyKeys(n, "pairs", "groups")
	resolved.Set("first", first)
	return Property{
		About: "liked better in " + number.CountWithNoun(len(pairs), "comparison") + heldOutAccuracyText(held), Posterior: learnt.Posterior(), HeldOut: held,
		mcmcProperty: property.NewPreference(learnt), resolvedValue: resolved,
	}, nil
}

// groupIndexByIngredient returns one item for each ingredient: the index of its group. Ingredients with the
// same value of the attribute form a group. An ingredient without a value has −1. The result is nil if the file
// names no attribute.
func groupIndexByIngredient(s *readContext, attribute config.Written[string]) ([]int, error) {
	if attribute.Node == nil {
		return nil, nil
	}
	a, err := s.Attribute(attribute.Node, attribute.Value)
	if err != nil {
		return nil, err
	}
	of := slices.Repeat([]int{-1}, len(s.IngredientNames))
	for k, g := range groupByValue(a) {
		for _, i := range g.members {
			of[i] = k
		}
	}
	return of, nil
}

// heldOutAccuracyText describes how well held-out pairs are predicted. It returns "" for fewer than two pairs.
func heldOutAccuracyText(h property.HeldOutAccuracy) string {
	if h.Pairs < 2 {
		return ""
	}
	se := math.Sqrt(h.Accuracy * (1 - h.Accuracy) / float64(h.Pairs))
	return fmt.Sprintf("; of those left out it tells %.0f ± %.0f %% right and expects %.0f %%", 100*h.Accuracy, 100*se, 100*h.ExpectedAccuracy)
}

// maxComparisonRows is the maximum number of rows in a file of comparisons.
const maxComparisonRows = 1 << 20

// comparisonColumns are the columns of a file of comparisons. A comparison is a pair of recipes. Each row of
// the file has one ingredient of one of the two recipes.
var comparisonColumns = []string{"pair", "choice", "ingredient", "amount"}

// readComparisons reads pairs of recipes, in the order of the file. Amounts may be in any unit, because only
// the shares of the ingredients count.
func readComparisons(s *readContext, r io.Reader, path string) ([]property.Pair, error) {
	cells, err := dataset.ReadCells(r, path, dataset.Layout{}, comparisonColumns, nil)
	if err != nil {
		return nil, err
	}
	if len(cells.Text) > maxComparisonRows {
		return nil, cells.ErrorAt(maxComparisonRows, 0, fmt.Sprintf("there are more than %d rows", maxComparisonRows), "")
	}
	for _, note := range cells.Notes {
		s.Warn(note.String() + ".")
	}
	type side struct {
		parts []mcmc.Part
		sum   float64
		of    []float64
		row   int
	}
	var names []string
	sides := make(map[string]*[2]side)
	for r, row := range cells.Text {
		which := slices.Index([]string{"better", "worse"}, row[1])
		if which < 0 {
			return nil, cells.ErrorAt(r, 1, "the choice is "+inputerr.Quote(row[1]), "write better or worse")
		}
		name := row[2]
		i := slices.Index(s.IngredientNames, name)
		if i < 0 {
			return nil, cells.ErrorAt(r, 2, "there is no ingredient "+inputerr.Quote(name), inputerr.DidYouMean(name, s.IngredientNames))
		}
		amount, err := measure.ParseAmount(row[3])
		if err != nil || amount.IsZero() {
			return nil, cells.ErrorAt(r, 3, "the amount is "+inputerr.Quote(row[3]), "write a number above 0")
		}
		pair := sides[row[0]]
		if pair == nil {
			pair = new([2]side)
			sides[row[0]] = pair
			names = append(names, row[0])
		}
		c := &pair[which]
		if slices.ContainsFunc(c.parts, func(p mcmc.Part) bool { return p.Ingredient == i }) {
			return nil, cells.ErrorAt(r, 2, fmt.Sprintf("the pair %s has %s twice", inputerr.Quote(row[0]), inputerr.Quote(name)), "add the amounts up")
		}
		c.parts, c.of, c.row = append(c.parts, mcmc.Part{Ingredient: i}), append(c.of, amount.Float64()), r
		c.sum += amount.Float64()
	}
	var pairs []property.Pair
	for _, name := range names {
		var made [2]*mcmc.Composition
		for k, c := range sides[name] {
			if len(c.parts) == 0 {
				return nil, &inputerr.Error{File: path, Message: fmt.Sprintf("the pair %s has no %s one", inputerr.Quote(name), []string{"better", "worse"}[k]), Hint: "write rows of both"}
			}
			if made[k], err = scaleToTotal(len(s.IngredientNames), s.Total, c.parts, c.of, c.sum); err != nil {
				return nil, cells.ErrorAt(c.row, 0, fmt.Sprintf("the pair %s: %v", inputerr.Quote(name), err), "")
			}
		}
		pairs = append(pairs, property.Pair{Better: made[0], Worse: made[1]})
	}
	if len(pairs) == 0 || len(pairs) > property.MaxPairs {
		return nil, &inputerr.Error{File: path, Message: "there are " + inputerr.Count(len(pairs), "comparison"), Hint: fmt.Sprintf("there must be from 1 to %d", property.MaxPairs)}
	}
	return pairs, nil
}

// scaleToTotal returns a composition whose amounts add up to total. It divides the total in proportion to the
// given amounts, by the method of largest remainders. The parameter n is the number of ingredients of the
// problem, and sum is the sum of the amounts. Ingredients that get no unit are dropped.
func scaleToTotal(n, total int, parts []mcmc.Part, amounts []float64, sum float64) (*mcmc.Composition, error) {
	rest := make([]float64, len(parts))
	left := total
	for k, v := range amounts {
		exact := float64(v / sum * float64(total))
		parts[k].Amount = int(exact)
		rest[k] = exact - math.Floor(exact)
		left -= parts[k].Amount
	}
	order := make([]int, len(parts))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if rest[a] > rest[b] {
			return -1
		} else if rest[a] < rest[b] {
			return 1
		}
		return 0
	})
	for k := range max(left, 0) {
		parts[order[k%len(order)]].Amount++
	}
	kept := slices.DeleteFunc(slices.Clone(parts), func(p mcmc.Part) bool { return p.Amount < 1 })
	return mcmc.NewComposition(n, kept...)
}
