package xgboost

import (
	"bufio"
	"fmt"
	"kir/forest/ensemble"
	"os"
	"strconv"
	"strings"
	"testing"
)

func rowsOf(t *testing.T, path string) (rows [][]float64) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	s := bufio.NewScanner(f)
	for s.Scan() {
		var row []float64
		for _, p := range strings.Split(s.Text(), ",") {
			v, err := strconv.ParseFloat(p, 64)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, v)
		}
		rows = append(rows, row)
	}
	return rows
}

func TestBig(t *testing.T) {
	for _, name := range []string{"big.json", "big.ubj"} {
		f, err := os.Open("/tmp/mk/" + name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := Read(f)
		if err != nil {
			t.Fatal(err)
		}
		x, y := rowsOf(t, "/tmp/mk/big_x.csv"), rowsOf(t, "/tmp/mk/big_y.csv")
		var sources []ensemble.Source
		for i := range m.Inputs {
			sources = append(sources, ensemble.Source{Ingredients: []int32{int32(i)}, Over: 1000})
		}
		s, err := ensemble.Bind(m, len(m.Inputs), 1000, sources)
		if err != nil {
			t.Fatal(err)
		}
		bad := 0
		for r := range x {
			a := make([]int32, len(x[r]))
			for k, v := range x[r] {
				a[k] = int32(v)
			}
			if float32(s.Value(s.Sums(a))) != float32(y[r][0]) {
				bad++
				if bad < 5 {
					fmt.Println(s.Value(s.Sums(a)), y[r][0])
				}
			}
		}
		fmt.Println(name, m.Maker, len(x), "bad", bad)
	}
}
