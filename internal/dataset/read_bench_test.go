package dataset

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"
)

// generated is a file that is made while it is read.
type generated struct {
	rest []byte
	left int // bytes that are still to be begun
	row  int
	next func(to []byte, row int) []byte
}

func (g *generated) Read(p []byte) (int, error) {
	for len(g.rest) < len(p) && g.left > 0 {
		before := len(g.rest)
		g.rest = g.next(g.rest, g.row)
		g.left -= len(g.rest) - before
		g.row++
	}
	n := copy(p, g.rest)
	g.rest = append(g.rest[:0], g.rest[n:]...)
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// BenchmarkRead reads files of 100 MB and tells how large the heap grows above
// what it was.
func BenchmarkRead(b *testing.B) {
	const size = 100_000_000
	wideHeader := new(strings.Builder)
	wideHeader.WriteString("recipe,taste")
	for i := range 2000 {
		fmt.Fprintf(wideHeader, ",ingredient %d", i)
	}
	blank := bytes.Repeat([]byte(",0"), 2000)
	for _, bench := range []struct {
		name    string
		header  string
		next    func(to []byte, row int) []byte
		options Options
	}{
		{ // recipes of 5 ingredients out of 2,000
			name: "long", header: "recipe,ingredient,amount,unit,taste,timing",
			next: func(to []byte, row int) []byte {
				return fmt.Appendf(to, "Recipe number %d,ingredient %d,%d.5,cl,Fresh,All day\n", row/5, row%5*400+row/5%400, row%9)
			},
		},
		{ // the most recipes a file can hold
			name: "tiny", header: "recipe,ingredient,amount",
			next: func(to []byte, row int) []byte { return fmt.Appendf(to, "%x,a,1\n", row) },
		},
		{ // 2,000 columns, 4 of them used
			name: "wide", header: wideHeader.String(), options: Options{Labels: []string{"taste"}},
			next: func(to []byte, row int) []byte {
				to = fmt.Appendf(to, "Recipe number %d,Fresh", row)
				at := len(to)
				to = append(append(to, blank...), '\n')
				for i := range 4 {
					to[at+1+2*(i*500+row%500)] = '5'
				}
				return to
			},
		},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(size)
			var most, recipes float64
			for b.Loop() {
				runtime.GC()
				var before runtime.MemStats
				runtime.ReadMemStats(&before)
				done, peak := make(chan bool), make(chan uint64)
				go func() {
					var most uint64
					for tick := time.Tick(10 * time.Millisecond); ; {
						select {
						case <-done:
							peak <- most
							return
						case <-tick:
							var now runtime.MemStats
							runtime.ReadMemStats(&now)
							most = max(most, now.HeapInuse-min(before.HeapInuse, now.HeapInuse))
						}
					}
				}()
				file := &generated{rest: []byte(bench.header + "\n"), left: size, next: bench.next}
				book, err := Read(file, "book.csv", bench.options)
				if err != nil {
					b.Fatal(err)
				}
				done <- true
				most, recipes = float64(<-peak)/1e6, float64(len(book.Recipes))
			}
			b.ReportMetric(most, "peak-MB")
			b.ReportMetric(recipes, "recipes")
		})
	}
}
