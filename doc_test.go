package kir_test

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kir"
	"kir/internal/number"
	"kir/mcmc"
)

// TestDefaults holds what the package's comment says of the defaults against a problem that
// has them.
func TestDefaults(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "kir.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(file.Doc.Text(), "# Defaults\n")
	text, _, _ = strings.Cut(text, "\n#")
	text = strings.Join(strings.Fields(text), " ")
	space, err := mcmc.NewSpace(3, 10)
	if err != nil {
		t.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, mcmc.Uniform(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	p, err := kir.New("three", target)
	if err != nil {
		t.Fatal(err)
	}
	s := p.Settings
	if s.Draws != mcmc.AutoDraws || s.Kernel != "" {
		t.Errorf("the default is %d draws by %q, and the comment is of draws that are enough, by a kernel that trials choose", s.Draws, s.Kernel)
	}
	for _, says := range []string{
		fmt.Sprintf("%d chains, after a warm-up of at most %s iterations each", s.Chains, number.Thousands(s.Warmup)),
		fmt.Sprintf("with seed %d.", s.Seed),
		fmt.Sprintf("or after %v ([Problem.Time])", p.Time),
	} {
		if !strings.Contains(text, says) {
			t.Errorf("the comment says nothing of %q: %s", says, text)
		}
	}
	p.Directory = filepath.Join(t.TempDir(), "run")
	if _, err := p.Sample(t.Context()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(p.Directory, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	var made struct{ Auto struct{ Wanted int } }
	if err := json.Unmarshal(data, &made); err != nil {
		t.Fatal(err)
	}
	if says := fmt.Sprintf("every figure is worth %s independent draws", number.Thousands(made.Auto.Wanted)); !strings.Contains(text, says) {
		t.Errorf("the comment says nothing of %q: %s", says, text)
	}
}
