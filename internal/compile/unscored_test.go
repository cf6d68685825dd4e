package compile

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"kir/internal/inputerr"
	"kir/mcmc"
)

// What a property makes of a recipe that is no score, or of all recipes 0, is told with
// the property's place in the file, the value and a recipe.
func TestUnscored(t *testing.T) {
	for _, c := range []struct{ expression, says string }{
		{"1/0", `"odd" is infinite for `},
		{"exp(1000)", `"odd" is infinite for `},
		{"-1", `"odd" is -1 for `},
		{"-1/0", `"odd" is -Inf for `},
		{`share("Gin") - 2`, `"odd" is -`},
		{"sqrt(-used)", `"odd" is not a number for `},
		{"0/0", `"odd" is not a number for `},
		{"0", `"odd" is 0 for 100 % of them, such as `},
		{`share("Gin") > 2`, `"odd" is 0 for 100 % of them, such as `},
		{"exp(-2000*used)", `"odd" is 0 for 100 % of them, such as `},
	} {
		text := fmt.Sprintf("total: 20\ningredients: [Gin, Rum, Lime]\nsparsity: {uniform: [1, 3]}\nproperties:\n  ok: {expression: '1e10'}\n  odd: {expression: '%s'}\n", c.expression)
		p, err := load(t, text, Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = mcmc.StartState(p.Target, mcmc.NewRand(1, "test", 0))
		if err == nil {
			t.Errorf("%s: a start was found", c.expression)
			continue
		}
		said := p.Explain(fmt.Errorf("chain 0: %w", err))
		var bad *inputerr.Error
		if !errors.As(said, &bad) || !errors.Is(said, err) || bad.Line != 6 || bad.Column != 21 || bad.File == "" || bad.Hint == "" ||
			!strings.Contains(bad.Message, c.says) || !strings.Contains(bad.Message, ` "Gin"`) && !strings.Contains(bad.Message, ` "Rum"`) && !strings.Contains(bad.Message, ` "Lime"`) {
			t.Errorf("%s: it says %v", c.expression, said)
		}
	}
	// Two that are 0 where the other is not.
	p, err := load(t, "total: 20\ningredients: [Gin, Rum, Lime]\nsparsity: {uniform: [1, 3]}\nproperties:\n  a: {expression: 'used < 2'}\n  b: {expression: 'used > 1'}\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = mcmc.StartState(p.Target, mcmc.NewRand(1, "test", 0))
	if said := p.Explain(err); !strings.Contains(said.Error(), ".yaml:5:19: ") || !strings.Contains(said.Error(), "here or in the properties that are 0 for the others") {
		t.Error(said)
	}
}
