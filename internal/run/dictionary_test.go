package run

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/rle"
)

// TestPlaces has the library read what appendPlaces wrote.
func TestPlaces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var places []int32
		most := 1 + r.IntN(1<<r.IntN(24))
		for len(places) < r.IntN(300) {
			v := int32(r.IntN(most))
			for range 1 + r.IntN(1+r.IntN(30)) {
				places = append(places, v)
			}
		}
		data := appendIndexes(nil, places)
		got, err := new(rle.DictionaryEncoding).DecodeInt32(nil, data)
		if err != nil {
			t.Fatal(err)
		}
		for len(got) > len(places) && got[len(got)-1] == 0 { // what fills up a group
			got = got[:len(got)-1]
		}
		if !slices.Equal(got, places) {
			t.Fatalf("%v became %v", places, got)
		}
	}
}
