package dataset

import (
	"strings"
	"testing"
)

// TestTrialsOfOneRecipe: rows of one name under other conditions are trials of their own, in both forms; the same
// conditions twice are refused.
func TestTrialsOfOneRecipe(t *testing.T) {
	for name, c := range map[string]struct{ table, names, fault string }{
		"wide":        {"recipe,Gin,Tonic,age,y\nA,1,2,1,3\nA,1,2,28,4\nB,2,1,,5\nB,2,1,28,6\n", "A|A at age 28|B|B at age 28", ""},
		"wide, again": {"recipe,Gin,Tonic,age,y\nA,1,2,1,3\nA,1,2,28,4\nA,1,3,28,5\n", "", `recipe "A at age 28" is there twice: first on line 3`},
		"wide, alike": {"recipe,Gin,Tonic,age,y\nA,1,2,1,3\nA,1,2,1,4\n", "", `recipe "A" is there twice: first on line 2`},
		"long":        {"recipe,ingredient,amount,age,y\nA,Gin,1,1,3\nA,Gin,1,28,4\nA,Tonic,2,1,3\nA,Tonic,2,28,4\n", "A|A at age 28", ""},
		"long, twice": {"recipe,ingredient,amount,age,y\nA,Gin,1,1,3\nA,Gin,2,1,3\n", "", `"Gin" is in "A" twice`},
		"long, empty": {"recipe,ingredient,amount,age,y\nA,Gin,1,1,3\nA,Tonic,2,,3\n", "A", ""},
	} {
		b, err := Read(strings.NewReader(c.table), "t.csv", Options{Labels: []string{"age", "y"}, Conditions: []string{"age"}})
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var names []string
		for _, r := range b.Recipes {
			names = append(names, r.Name)
			if len(r.Parts) != 2 {
				t.Errorf("%s: %s has %d ingredients", name, r.Name, len(r.Parts))
			}
		}
		if got := strings.Join(names, "|"); got != c.names {
			t.Errorf("%s: the recipes are %s", name, got)
		}
	}
}
