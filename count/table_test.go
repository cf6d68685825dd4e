package count

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
)

// Every count of 1,000 random small spaces equals what going through all
// compositions finds, and so does whether it is zero.
func TestCountsEqualBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	nonempty, groups, total := 0, 0, 0
	for problem := range 1000 {
		s := randomSpace(r)
		want := make([]int64, len(s.Ingredients)+s.Total+2)
		for _, x := range bruteForce(s) {
			want[usedOf(x)]++
		}
		table, err := New(context.Background(), s, Options{})
		if err != nil {
			t.Fatalf("problem %d, %+v: %v", problem, s, err)
		}
		plan, err := newPlan(s, table.MaxUsed())
		if err != nil {
			t.Fatal(err)
		}
		can, err := reachable(context.Background(), plan)
		if err != nil {
			t.Fatal(err)
		}
		sum := int64(0)
		for n := range want {
			got := table.Count(n)
			if got.Cmp(big.NewInt(want[n])) != 0 {
				t.Fatalf("problem %d, %s: |X_%d| = %v, brute force finds %d", problem, show(s), n, got, want[n])
			}
			if n < len(can) && can[n] != (want[n] > 0) || table.Empty(n) != (want[n] == 0) {
				t.Fatalf("problem %d, %s: X_%d is told to be empty or not, wrongly; it has %d", problem, show(s), n, want[n])
			}
			sum += want[n]
		}
		if sum > 0 {
			nonempty++
			total += int(sum)
		}
		if len(s.Groups) > 1 {
			groups++
		}
	}
	t.Logf("%d of 1000 have compositions, %d in all; %d have several groups", nonempty, total, groups)
	if nonempty < 400 || groups < 200 {
		t.Errorf("the random problems are poor: %d have compositions, %d several groups", nonempty, groups)
	}
}

func show(s Space) string {
	out := fmt.Sprintf("total %d, ingredients %+v, groups", s.Total, s.Ingredients)
	for _, g := range s.Groups {
		out += fmt.Sprintf(" {%v used %v total %v}", g.Members, g.Used, g.Total)
	}
	return out
}
