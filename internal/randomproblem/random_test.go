package randomproblem

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"
)

// The test binary is also the program that wishes of the kind program run.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "scorer" {
		if err := Scorer(os.Stdin, os.Stdout, os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func options(t testing.TB) Options {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Options{Dir: t.TempDir(), Scorer: exe, Starts: 600, Iterations: 12, Chains: 24, More: 126, Warmup: 400}
}

func TestTry(t *testing.T) {
	from, _ := strconv.ParseUint(os.Getenv("FROM"), 10, 64)
	n, _ := strconv.Atoi(os.Getenv("N"))
	for seed := from; seed < from+uint64(n); seed++ {
		start := time.Now()
		p := New(seed)
		made := time.Since(start)
		o := options(t)
		out, err := Check(t.Context(), p, o)
		if err != nil {
			t.Fatal(seed, err)
		}
		os.RemoveAll(o.Dir)
		t.Logf("%d: %v made, %v: refused %v empty %v states %d", seed, made, time.Since(start), out.Refused, out.Empty, out.States)
		for _, r := range out.Rows {
			if r.P < 1e-4 {
				t.Logf("   %+v", r)
			}
		}
		for _, f := range out.Faults {
			t.Errorf("   %s", f)
		}
	}
}
