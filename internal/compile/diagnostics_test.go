package compile

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"kir/internal/inputerr"
)

// One error has all that is wrong in a problem file, by line: keys, values, names of
// ingredients and labels, also several in one rule; and nothing that only follows from
// what is wrong.
func TestAllAtOnce(t *testing.T) {
	const bad = `nmae: X
recipes: recipes.csv
total: -5
sparsity: 5
search: {effort: x, dose: book}
sampler: {chains: x, draws: -1, sed: 3}
properties:
  taste: {forest: {label: tast, want: Fresch}}
  sum: {expression: 'share("Gni")'}
constraints:
  - amount: {of: Gni, min: a, max: b}
  - amount: {of: [Gin, Vermout], mn: 3}
  - exclud: [Gin]
  - if: {used: Camprai, then: {exclude: [Gni]}}
  - group: {of: [Gin, Campari], used: [2, 1], total: ["30%", "7x%"]}
`
	_, err := load(t, bad, Options{})
	var all *inputerr.Errors
	if !errors.As(err, &all) {
		t.Fatal(err)
	}
	var got []string
	for _, e := range all.All {
		got = append(got, fmt.Sprintf("%d:%d", e.Line, e.Column))
	}
	want := "1:1 3:8 4:11 5:18 5:21 6:19 6:29 6:33 8:27 9:28 11:18 11:28 11:36 12:24 12:34 13:5 14:16 14:42 15:39 15:62"
	if strings.Join(got, " ") != want || all.MayHaveMore {
		t.Errorf("the places are %s\nand not    %s\n%v", strings.Join(got, " "), want, err)
	}

	// A key that is misspelt is not said to be missing, too; nor what stands beside what
	// was left out to read on.
	for _, c := range []struct{ yaml, want string }{
		{"recipes: recipes.csv\ntotl: 5\n", "2:1"},
		{"recipe: recipes.csv\ntotal: 5\n", "1:1"},
		{"recipes: recipes.csv\ntotal: 5\nproperties: {t: {learn: {label: taste, floor: 2, maximize: x, want: Fresh}}}\n", "3:47"},
		{"  - amount: {of: Gin, stock: x, batch: 750 ml}\n", "6:30"},
		{"  - limit: {atribute: abv, max: 20}\n", "6:13"},
		{"  - amount: {of: [Gni], max: 2}\n", "6:19"},
		{"  - needs: {if: Gni, then: [Campari]}\n", "6:17"},
		{"  - never: [Gin, Gni]\n", "6:18"},
		{"  - limit: {attribute: abv, of: {famly: spirit}, max: x}\n", "6:34 6:55"},
	} {
		read := func() (*Problem, error) { return load(t, c.yaml, Options{}) }
		if strings.HasPrefix(c.yaml, " ") {
			read = func() (*Problem, error) { return loadRules(t, headBook, c.yaml) }
		}
		_, err := read()
		all, one := (*inputerr.Errors)(nil), (*inputerr.Error)(nil)
		list := []*inputerr.Error{}
		if errors.As(err, &all) {
			list = all.All
		} else if errors.As(err, &one) {
			list = append(list, one)
		}
		var got []string
		for _, e := range list {
			got = append(got, fmt.Sprintf("%d:%d", e.Line, e.Column))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s\nthe places are %v and not %s: %v", c.yaml, got, c.want, err)
		}
	}
}
