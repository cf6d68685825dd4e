// Calibration says whether the standard errors that kir states can be believed.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

func main() {
	p := standard
	flag.IntVar(&p.runs, "runs", p.runs, "")
	flag.IntVar(&p.draws, "draws", p.draws, "")
	flag.IntVar(&p.warmup, "warmup", p.warmup, "")
	only := flag.String("only", "", "")
	kernel := flag.String("kernel", "", "")
	flag.Parse()
	for _, s := range subjects() {
		if *only != "" && s.name != *only {
			continue
		}
		start := time.Now()
		t, err := s.enumerate()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(s.name, "enumerated", time.Since(start), t.sizes)
		for _, k := range kernels() {
			if *kernel != "" && k != *kernel {
				continue
			}
			start := time.Now()
			found, err := cover(context.Background(), s, t, k, p)
			if err != nil {
				fmt.Fprintln(os.Stderr, s.name, k, err)
				os.Exit(1)
			}
			if found == nil {
				fmt.Printf("%-12s refuses\n", k)
				continue
			}
			var b strings.Builder
			for _, kind := range kinds {
				c := found[kind]
				fmt.Fprintf(&b, "  %s %.1f (rms %.2f, worst %.1f, unknown %d/%d)", kind, 100*c.share(), sqrt(c.squares/float64(c.stated)), c.worst, c.unknown, c.stated+c.unknown)
			}
			fmt.Printf("%-12s%s  %v\n", k, b.String(), time.Since(start).Round(time.Millisecond))
		}
	}
}
