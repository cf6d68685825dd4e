package build

import (
	"errors"
	"math/big"
	"testing"

	"kir/fault"
)

// FuzzBatch reads how much is made, on what scale.
func FuzzBatch(f *testing.F) {
	for _, text := range []string{"750ml", "1.5 kg", "0,5 l", "1/2 l", "1e9 g", "5%", "1p3%", "½ kg", "0x10 g", "ml"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		size, m, err := readBatch(text)
		if bad := (*fault.Error)(nil); err != nil && !errors.As(err, &bad) {
			t.Fatal(err)
		}
		if err == nil && (size.Sign() <= 0 || m.size.Cmp(new(big.Rat)) <= 0) {
			t.Fatalf("%q is %v of %v", text, size, m)
		}
	})
}
