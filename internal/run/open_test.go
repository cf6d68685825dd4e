package run

import (
	"context"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"kir/mcmc"
)

// Every stride-th draw is what it says, whether or not the stride divides the
// number of draws.
func TestEvery(t *testing.T) {
	s := newSpec(t, 40, 60, mcmc.Uniform(2, 9), mcmc.Settings{Kernel: "balanced", Chains: 2, Draws: 1000, Thin: 1, Seed: 7})
	dir, _ := start(t, s, Options{})
	all := collect(t, dir)
	r, err := Open(context.Background(), NewDirectoryStore(dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, stride := range []int{1, 3, 250, 999, 1000, 5000} {
		t.Run(fmt.Sprint(stride), func(t *testing.T) {
			at := 0
			for d, err := range r.ThinnedDraws(context.Background(), 1, stride) {
				if err != nil {
					t.Fatal(err)
				}
				got := *d
				got.Scores, got.Parts = slices.Clone(d.Scores), slices.Clone(d.Parts)
				if at >= len(all[1]) || !reflect.DeepEqual(got, all[1][at]) {
					t.Fatalf("got %v, want draw %d", got, at)
				}
				at += stride
			}
			if at < 1000 || at-stride >= 1000 {
				t.Errorf("the last draw was %d", at-stride)
			}
		})
	}
}

// Whoever keeps runs in directories gets neither problem files with their YAML and
// expressions, nor what buckets need.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	if !slices.Contains(packages, "kir/internal/run") || !slices.Contains(packages, "kir/internal/diagnose") {
		t.Fatalf("go list says %s", out)
	}
	for _, p := range packages {
		for _, unwanted := range []string{"kir/internal/compile", "yaml", "expr-lang", "gopkg.in/ini", "minio"} {
			if strings.Contains(p, unwanted) {
				t.Errorf("the package depends on %s", p)
			}
		}
	}
}

// The state of a chain is small, even where each of many replicas has learnt what
// hundreds of states of dozens of ingredients use.
func TestStateIsSmall(t *testing.T) {
	s := newSpec(t, 400, 150, mcmc.Uniform(50, 70), mcmc.Settings{Kernel: "tempered", Chains: 1, Warmup: 1600, Draws: 20, Thin: 1, Seed: 5},
		mcmc.Objective{Name: "smooth", Property: mcmc.ScoreFunc(func(x *mcmc.Composition) float64 { return math.Exp(-float64(x.Amount(1)+x.Amount(7)) / 9) }), Weight: 20},
		mcmc.Objective{Name: "aside", Property: mcmc.ScoreFunc(func(x *mcmc.Composition) float64 { return math.Exp(-float64(x.Amount(3)) / 9) }), Weight: 20})
	dir, _ := start(t, s, Options{})
	files, err := NewDirectoryStore(dir).List(t.Context(), "state/chain")
	if err != nil || len(files) != 1 {
		t.Fatalf("there are %v, %v", files, err)
	}
	t.Logf("%d bytes", files[0].Size)
	if files[0].Size > 64<<10 {
		t.Errorf("the state of a chain has %d bytes", files[0].Size)
	}
}

// Any reader of Parquet finds the lists of a draw, as the library's own does here by
// their levels.
func TestPartsAreLists(t *testing.T) {
	s := newSpec(t, 40, 9000, mcmc.Uniform(2, 9), mcmc.Settings{Kernel: "balanced", Chains: 1, Draws: 200, Thin: 1, Seed: 7})
	dir, _ := start(t, s, Options{})
	names, err := filepath.Glob(filepath.Join(dir, "draws", "*", "*.parquet"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	type lists struct {
		Draw        int64    `parquet:"draw"`
		Used        int32    `parquet:"used"`
		Ingredients []string `parquet:"ingredient,list"`
		Amounts     []int32  `parquet:"amount,list"`
	}
	rows, err := parquet.ReadFile[lists](names[0])
	if err != nil {
		t.Fatal(err)
	}
	draws := collect(t, dir)[0]
	if len(rows) != len(draws) {
		t.Fatalf("%d rows of %d draws", len(rows), len(draws))
	}
	for k, d := range draws {
		want := lists{Draw: int64(d.Draw), Used: int32(len(d.Parts))}
		for _, p := range d.Parts {
			want.Ingredients, want.Amounts = append(want.Ingredients, s.Ingredients[p.Ingredient]), append(want.Amounts, int32(p.Amount))
		}
		if !reflect.DeepEqual(rows[k], want) {
			t.Fatalf("row %d is %+v, want %+v", k, rows[k], want)
		}
	}
}
