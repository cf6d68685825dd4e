package assemble

import (
	"errors"
	"math/big"
	"testing"

	"kir/internal/inputerr"
)

// FuzzBatch reads how much is made, on what scale.
func FuzzBatch(f *testing.F) {
	for _, text := range []string{"750ml", "1.5 kg", "0,5 l", "1/2 l", "1e9 g", "5%", "1p3%", "½ kg", "0x10 g", "ml"} {
		f.Add(text, text, "")
	}
	f.Add("1 l", "0.1 g", "ml")
	f.Fuzz(func(t *testing.T, batch, step, in string) {
		size, unit, err := parseSizeAndUnit("the batch", batch)
		var made, weighed measureUnit
		if err == nil {
			made, err = parseMeasureUnit(nil, unit)
		}
		steps := new(big.Rat)
		if err == nil {
			steps, weighed, err = (&Scale{Batch: batch, Step: step, Unit: in}).parseStep(nil, made)
		}
		if bad := (*inputerr.Error)(nil); err != nil && !errors.As(err, &bad) {
			t.Fatal(err)
		}
		if err == nil && (size.Sign() <= 0 || made.sizeInBaseUnits.Sign() <= 0 || steps.Sign() <= 0 || weighed.sizeInBaseUnits.Sign() <= 0) {
			t.Fatalf("%q is %v of %v, weighed in %v of %v", batch, size, made, steps, weighed)
		}
	})
}
