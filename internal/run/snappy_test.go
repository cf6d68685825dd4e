package run

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/parquet-go/parquet-go/compress/snappy"
)

// TestSnappy has the library read what plainSnappy wrote, and compares how much it is.
func TestSnappy(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	input := map[string][]byte{"nothing": {}, "a byte": {7}, "the same": bytes.Repeat([]byte{1}, 200_000), "a phrase": bytes.Repeat([]byte("one of many "), 20_000)}
	for _, n := range []int{3, 15, 16, 17, 60, 61, 62, 255, 256, 257, 1000, 1<<16 - 1, 1 << 16, 1<<16 + 1, 300_000} {
		noise, amounts, runs := make([]byte, n), make([]byte, n), make([]byte, 0, n)
		for k := range n {
			noise[k] = byte(r.Uint32())
			if k%4 == 0 {
				amounts[k] = byte(r.IntN(5))
			}
		}
		for len(runs) < n {
			runs = append(runs, bytes.Repeat([]byte{byte(r.IntN(3))}, min(1+r.IntN(80), n-len(runs)))...)
		}
		input[fmt.Sprint("noise ", n)], input[fmt.Sprint("amounts ", n)], input[fmt.Sprint("runs ", n)] = noise, amounts, runs
	}
	for name, data := range input {
		small, err := new(plainSnappy).Encode(nil, data)
		if err != nil {
			t.Fatal(err)
		}
		back, err := new(snappy.Codec).Decode(nil, small)
		if err != nil || !bytes.Equal(back, data) {
			t.Errorf("%s: %d bytes of %d came back: %v", name, len(back), len(data), err)
			continue
		}
		theirs, err := new(snappy.Codec).Encode(nil, data)
		if err != nil {
			t.Fatal(err)
		}
		if len(small) > len(theirs)+len(theirs)/8+64 {
			t.Errorf("%s: %d bytes became %d, and %d by the library", name, len(data), len(small), len(theirs))
		}
	}
}

func BenchmarkSnappy(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, 1<<17)
	for k := range data {
		if k%4 == 0 {
			data[k] = byte(r.IntN(50))
		}
	}
	var out []byte
	for name, codec := range map[string]interface {
		Encode(dst, src []byte) ([]byte, error)
	}{"plain": new(plainSnappy), "library": new(snappy.Codec)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				out, _ = codec.Encode(out, data)
			}
			b.ReportMetric(float64(len(out))/float64(len(data)), "share")
		})
	}
}
