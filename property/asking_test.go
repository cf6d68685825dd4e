package property

import (
	"fmt"
	"math"
	"testing"
)

// What is remembered is what was put there, what is asked for again stays longest, and
// there are never more than two generations.
func TestMemo(t *testing.T) {
	var m scoreCache
	recipe := func(k int) []byte { return fmt.Appendf(nil, "%0*d", 1000, k) }
	const each = maxCacheMapBytes / (1000 + cacheEntryOverheadBytes) // of a generation
	for k := range 5 * each {
		m.put(recipe(k), float64(k))
		if log, ok := m.get(recipe(0)); !ok || log != 0 {
			t.Fatalf("after %d recipes the one that is asked for all the time is %v, %v", k+1, log, ok)
		}
		if log, ok := m.get(recipe(k - k%each)); !ok || log != float64(k-k%each) {
			t.Fatalf("recipe %d is %v, %v", k-k%each, log, ok)
		}
		if n := len(m.currentScores) + len(m.previousScores); n > 2*each {
			t.Fatalf("%d recipes are remembered, and %d are two generations", n, 2*each)
		}
	}
	if _, ok := m.get(recipe(1)); ok {
		t.Error("the second recipe is not forgotten")
	}
	m.put(recipe(-1), math.Inf(-1))
	if log, ok := m.get(recipe(-1)); !ok || !math.IsInf(log, -1) {
		t.Errorf("a score of 0 is remembered as %v, %v", log, ok)
	}
}
