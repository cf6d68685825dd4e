package drawfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/parquet-go/parquet-go"
)

type row struct {
	Chain      int32    `parquet:"chain"`
	Draw       int64    `parquet:"draw"`
	LogDensity float64  `parquet:"log_density"`
	Used       int32    `parquet:"used"`
	Taste      float64  `parquet:"taste"`
	Ingredient []string `parquet:"ingredient,list"`
	Amount     []int32  `parquet:"amount,list"`
}

func TestProto(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	names := make([]string, 300)
	for i := range names {
		names[i] = fmt.Sprint("ingredient ", i)
	}
	var buf bytes.Buffer
	w, err := NewWriter(&buf, Schema{Chain: 3, Total: 1000, Properties: []string{"taste"}, Ingredients: names})
	if err != nil {
		t.Fatal(err)
	}
	var want []row
	d := Draw{Scores: []float64{0}}
	add := func() {
		x := row{Chain: 3, Draw: int64(len(want)), LogDensity: d.LogDensity, Used: int32(len(d.Amounts)), Taste: d.Scores[0]}
		for p := range d.Ingredients {
			x.Ingredient = append(x.Ingredient, names[d.Ingredients[p]])
			x.Amount = append(x.Amount, d.Amounts[p])
		}
		want = append(want, x)
	}
	for len(want) < 50000 {
		n := len(d.Ingredients)
		if n == 0 || r.IntN(4) == 0 {
			n = 1 + r.IntN(20)
		}
		ing := make([]int32, n)
		am := make([]int32, n)
		copy(ing, d.Ingredients)
		copy(am, d.Amounts)
		for p := len(d.Ingredients); p < n; p++ {
			ing[p] = r.Int32N(300)
			am[p] = 1 + r.Int32N(999)
		}
		var changed []int32
		for p := range min(n, len(d.Ingredients)) {
			if r.IntN(10) == 0 {
				if r.IntN(2) == 0 {
					ing[p] = r.Int32N(300)
				}
				if r.IntN(2) == 0 {
					am[p] = 1 + r.Int32N(999)
				}
				changed = append(changed, int32(p))
			}
		}
		d.Ingredients, d.Amounts = ing, am
		if r.IntN(2) == 0 {
			d.LogDensity = float64(r.IntN(3))
		}
		if r.IntN(2) == 0 {
			d.Scores[0] = r.Float64()
		}
		if err := w.Write(&d, changed); err != nil {
			t.Fatal(err)
		}
		add()
		if r.IntN(2) == 0 {
			k := r.IntN(10)
			if r.IntN(1000) == 0 {
				k = r.IntN(20000)
			}
			w.Repeat(k)
			for range k {
				add()
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	t.Log(buf.Len(), len(want))
	os.WriteFile("/tmp/sample.parquet", buf.Bytes(), 0o644)
	j, _ := json.Marshal(want)
	os.WriteFile("/tmp/sample.json", j, 0o644)
	got, err := parquet.Read[row](bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatal(len(got), len(want))
	}
	for i := range got {
		if fmt.Sprint(got[i]) != fmt.Sprint(want[i]) {
			t.Fatal(i, got[i], want[i])
		}
	}
}
