package randomproblem

import (
	"fmt"
	"math"
)

// drawDocument draws topics and words. Topics of one word each are frequent, and
// so are words that stand there 3,000 times.
func (p *Pantry) drawDocument(d dice, w *Wish, extreme bool) {
	words := []string{"river", "bank", "tide", "loan"}[:d.between(1, 4)]
	single := d.chance(0.5)
	beta := make([][]int, len(p.Names)) // in thousandths
	for i := range beta {
		beta[i] = make([]int, len(words))
		if single {
			beta[i][d.IntN(len(words))] = 1000
			continue
		}
		left := 1000
		for k := range words {
			take := d.IntN(left + 1)
			if k == len(words)-1 {
				take = left
			}
			beta[i][k] = take
			left -= take
		}
	}
	counts := map[string]int{}
	of := make([]int, len(words))
	all := 0
	for _, k := range d.some(d.between(1, len(words)), len(words)) {
		of[k] = d.between(1, 6)
		if extreme {
			of[k] = one(d, 1, 30, 300, 3000)
		}
		counts[words[k]] = of[k]
		all += of[k]
	}
	if extreme {
		w.Weight = one(d, 1.0, 1, 30)
	}
	rows := make([][]float64, len(beta))
	for i := range beta {
		for _, b := range beta[i] {
			rows[i] = append(rows[i], float64(b)/1000)
		}
	}
	file := fmt.Sprintf("topics %s.csv", w.Name)
	w.files = map[string]string{file: table(append([]string{"topic"}, words...), p.Names, rows)}
	w.yaml = map[string]any{"topics": file, "words": counts}
	w.log = func(x []int) float64 {
		s := 0.0
		for k, c := range of {
			if c == 0 {
				continue
			}
			have := 0
			for i, a := range x {
				have += beta[i][k] * a
			}
			share := float64(have) / float64(1000*p.Total)
			s += float64(c) * math.Log(share/(float64(c)/float64(all)))
		}
		return s
	}
}
