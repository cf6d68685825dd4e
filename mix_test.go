package kir_test

import (
	"math"
	"strings"
	"testing"

	"kir"
)

func TestMixErrors(t *testing.T) {
	target := newTarget(t, 3, 4, kir.Uniform(1, 3))
	for _, m := range []kir.Mix{{}, {Line: -1}, {Resize: math.NaN()}, {Recall: 1, Refresh: math.Inf(1)}} {
		if _, err := kir.NewBalancedMix(target, m); err == nil || !strings.Contains(err.Error(), "balanced: ") {
			t.Errorf("%+v: %v", m, err)
		}
	}
}
