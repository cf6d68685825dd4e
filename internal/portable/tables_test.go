package portable

import (
	"bytes"
	"fmt"
	"go/format"
	"math"
	"math/big"
	"testing"

	"kir/internal/testonly/golden"
)

// nearest returns a number and what it lacks.
func nearest(x *big.Float) (high, low float64) {
	high, _ = x.Float64()
	low, _ = reference.sub(x, reference.of(high)).Float64()
	return high, low
}

// toBits returns the multiple of 2^−bits that is next to x, and what it lacks.
func toBits(x *big.Float, bits int) (high, low float64) {
	f, _ := x.Float64()
	high = math.Ldexp(math.RoundToEven(math.Ldexp(f, bits)), -bits)
	low, _ = reference.sub(x, reference.of(high)).Float64()
	return high, low
}

// TestTables computes the tables; with -update it writes them.
func TestTables(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("package portable\n\n// TestTables computed the tables and constants of this file.\n\n")
	b.WriteString("// powers[j] holds 2^(j/128) as the sum high + low, for j = 0..127.\nvar powers = [stepsPerDoubling]struct{ high, low float64 }{\n")
	for j := range stepsPerDoubling {
		x := reference.exp(reference.quo(reference.mul(reference.ln2(), reference.of(float64(j))), reference.of(stepsPerDoubling)))
		high, low := nearest(x)
		fmt.Fprintf(&b, "\t{%x, %x},\n", high, low)
	}
	b.WriteString("}\n\n// centres holds all centres (see [centre]) in ascending order, from 0.6875 to 1.3671875.\nvar centres = [1 << centreBits]centre{\n")
	for j := range 1 << centreBits {
		c := math.Float64frombits(leastZBits + uint64(j)*centreUnit)
		one := reference.of(1)
		inverse, inverseRest := toBits(reference.quo(one, reference.of(c)), 7)
		log, logRest := toBits(reference.log(reference.of(c)), 42)
		fmt.Fprintf(&b, "\t{%x, %x, %x, %x},\n", inverse, inverseRest, log, logRest)
	}
	b.WriteString("}\n\n// These constants are the inverses of ln 2 and ln 10, each as a sum of two numbers, such as inverseLn2 +\n// inverseLn2Rest.\nconst (\n")
	for _, c := range []struct {
		name string
		of   float64
	}{{"inverseLn2", 2}, {"inverseLn10", 10}} {
		high, low := nearest(reference.quo(reference.of(1), reference.log(reference.of(c.of))))
		fmt.Fprintf(&b, "\t%s = %x\n\t%sRest = %x\n", c.name, high, c.name, low)
	}
	b.WriteString(")\n")
	golden.Compare(t, "tables.go", formatted(t, b.Bytes()))
}

func formatted(t *testing.T, source []byte) []byte {
	t.Helper()
	out, err := format.Source(source)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
