package compile

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// manyRules writes a problem of rules over 200 ingredients: pairs of which at most one
// may be used, or groups of up to six of which two may be, with half of the total.
func manyRules(rules int, groups bool, total, least, most int) string {
	r := rand.New(rand.NewPCG(1, uint64(rules)))
	name := func(i int) string { return fmt.Sprintf("i%03d", i) }
	var b strings.Builder
	fmt.Fprintf(&b, "total: %d\nsparsity: {uniform: [%d, %d]}\ningredients:\n", total, least, most)
	for i := range 200 {
		fmt.Fprintf(&b, "  - %s\n", name(i))
	}
	b.WriteString("constraints:\n")
	for range rules {
		var of []string
		for _, i := range r.Perm(200)[:2+r.IntN(5)] {
			of = append(of, name(i))
		}
		if groups {
			fmt.Fprintf(&b, "  - group: {of: [%s], used: [0, 2], total: [0, %d]}\n", strings.Join(of, ", "), total/2)
		} else {
			fmt.Fprintf(&b, "  - never: [%s]\n", strings.Join(of[:2], ", "))
		}
	}
	return b.String()
}

// BenchmarkManyRules reads problems of hundreds and thousands of rules.
func BenchmarkManyRules(b *testing.B) {
	for _, p := range []struct {
		rules              int
		groups             bool
		total, least, most int
	}{
		{400, false, 20, 1, 5}, {2000, false, 20, 1, 5}, {10_000, false, 20, 1, 5},
		{400, false, 100, 3, 8}, {2000, false, 100, 3, 8}, {10_000, false, 100, 3, 8},
		{400, true, 100, 3, 8}, {2000, true, 100, 3, 8},
		{400, true, 1000, 2, 15}, {2000, true, 1000, 2, 15},
	} {
		what := "never"
		if p.groups {
			what = "group"
		}
		b.Run(fmt.Sprintf("%s/%d/total=%d/used=%d-%d", what, p.rules, p.total, p.least, p.most), func(b *testing.B) {
			file := filepath.Join(b.TempDir(), "problem.yaml")
			if err := os.WriteFile(file, []byte(manyRules(p.rules, p.groups, p.total, p.least, p.most)), 0o644); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				q, err := Load(b.Context(), file, Options{Workers: 1})
				if err != nil {
					b.Fatal(err)
				}
				q.Close()
			}
		})
	}
}
