package dataset_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"kir/internal/dataset"
)

func readCocktails(t *testing.T) *dataset.Book {
	t.Helper()
	book, err := dataset.ReadFile(t.Context(), "../../examples/cocktails/recipes.csv", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return book
}

func TestCocktails(t *testing.T) {
	book := readCocktails(t)
	if got := len(book.Recipes); got != 69 {
		t.Errorf("there are %d drinks, want 69", got)
	}
	if got := book.Ingredients.Len(); got != 63 {
		t.Errorf("there are %d ingredients, want 63", got)
	}
	if got, want := book.RecipeCountsBySize(), []int{0, 0, 13, 29, 25, 2}; !slices.Equal(got, want) {
		t.Errorf("the law of n is %v, want %v", got, want)
	}
	for label, want := range map[string]map[string]int{
		"taste":  {"Bittersweet": 7, "Boozy": 12, "Fresh": 33, "Salty": 1, "Sour": 4, "Sweet": 8, "Unknown": 4},
		"timing": {"After dinner": 14, "All day": 27, "Long drink": 3, "Pre-dinner": 25},
	} {
		l, ok := book.Label(label)
		if !ok {
			t.Errorf("there is no label %s", label)
			continue
		}
		got := make(map[string]int)
		for i, class := range l.Classes {
			got[class] = l.Counts[i]
		}
		if !maps.Equal(got, want) || l.MissingCount() != 0 {
			t.Errorf("%s is %v and missing %d times, want %v", label, got, l.MissingCount(), want)
		}
	}

	// Most used ingredients, and names that must be one.
	uses := make(map[string]int)
	for _, r := range book.Recipes {
		for _, p := range r.Parts {
			uses[book.Ingredients.Names[p.Ingredient]]++
		}
	}
	for name, want := range map[string]int{
		"Gin": 24, "Lemon juice": 18, "Simple syrup": 12, "Sweet Vermouth": 10, "Angostura bitters": 8, "Absinthe": 4, "Peach purée": 1,
		"Angostura": 0, "Angustura": 0, "Absinth": 0, "Peach pure": 0,
	} {
		if uses[name] != want {
			t.Errorf("%d drinks use %s, want %d", uses[name], name, want)
		}
	}

	smallest, in := 1000, ""
	for i, r := range book.Recipes {
		units, err := book.Closure(i, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if least := slices.Min(units); least < smallest {
			smallest, in = least, r.Name
		}
	}
	if smallest != 1 || in != "Monkey Gland" {
		t.Errorf("the smallest part is %d, in %s", smallest, in)
	}
}

// Drinks whose closure can be worked out by hand.
func TestCocktailsClosure(t *testing.T) {
	known := readCocktails(t)
	for name, want := range map[string]string{
		"Kir royal":    "Champagne 900, Crème de cassis 100",
		"Negroni":      "Gin 334, Sweet Vermouth 333, Campari 333",
		"Monkey Gland": "Gin 624, Orange juice 374, Absinthe 1, Grenadine 1", // 5 + 3 + 0.01 + 0.01 cl
		"Americano":    "Campari 480, Sweet Vermouth 480, Soda water 40",     // 3 + 3 + 0.25
	} {
		i := slices.IndexFunc(known.Recipes, func(r dataset.Recipe) bool { return r.Name == name })
		if i < 0 {
			t.Errorf("there is no %s", name)
			continue
		}
		units, err := known.Closure(i, 1000)
		if err != nil {
			t.Fatal(err)
		}
		var parts []string
		for k, p := range known.Recipes[i].Parts {
			parts = append(parts, fmt.Sprint(known.Ingredients.Names[p.Ingredient], " ", units[k]))
		}
		if got := strings.Join(parts, ", "); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// The README of the example gives the sizes that are used.
func TestCocktailsReadme(t *testing.T) {
	text, err := os.ReadFile("../../examples/cocktails/README.md")
	if err != nil {
		t.Fatal(err)
	}
	amounts := make(map[string]int)
	sizes := make(map[string]string)
	rows := 0
	for _, r := range readCocktails(t).Recipes {
		for _, p := range r.Parts {
			amounts[p.Unit.Name]++
			sizes[p.Unit.Name] = p.Unit.Size.String()
			rows++
		}
	}
	if want := fmt.Sprintf("%d of the %d amounts are in centilitres", amounts["cl"], rows); !strings.Contains(string(text), want) {
		t.Errorf("the README does not say %q", want)
	}
	delete(amounts, "cl")
	told := make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 6 {
			continue
		}
		for name, n := range amounts {
			if strings.HasPrefix(strings.TrimSpace(cells[1]), name) {
				told[name] = strings.TrimSpace(cells[2]) == fmt.Sprint(n) && strings.TrimSpace(cells[3]) == sizes[name]
			}
		}
	}
	for name, n := range amounts {
		if !told[name] {
			t.Errorf("the README does not say that %d amounts are in %s of %s cl", n, name, sizes[name])
		}
	}
}
