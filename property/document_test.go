package property_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"kir/internal/testonly/golden"
	"kir/property"
)

// randomTopics returns laws over a vocabulary, with some zeros.
func randomTopics(r *rand.Rand, topics, words int) [][]float64 {
	all := make([][]float64, topics)
	for t := range all {
		sum := 0.0
		for range words {
			v := 0.0
			if r.IntN(5) > 0 || words == 1 {
				v = r.ExpFloat64() * r.ExpFloat64()
			}
			all[t] = append(all[t], v)
			sum += v
		}
		for w := range all[t] {
			all[t][w] /= sum
		}
	}
	return all
}

func TestDocument(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 44))
	for _, c := range []struct{ topics, words, total, most int }{{5, 12, 20, 3}, {8, 70, 30, 1}, {3, 40, 10, 9}, {2, 1, 4, 1}} {
		topics := randomTopics(r, c.topics, c.words)
		counts, length := make([]int, c.words), 0.0
		for w := range counts {
			counts[w] = 1 + r.IntN(c.most)
			length += float64(counts[w])
		}
		naive := func(x []int) float64 {
			y := 1.0
			for w, n := range counts {
				p := 0.0
				for t := range topics {
					p += float64(x[t]) / float64(c.total) * topics[t][w]
				}
				y *= math.Pow(p/(float64(n)/length), float64(n))
			}
			return y
		}
		walkLines(t, must(property.NewDocument(topics, counts, c.total)), c.topics, c.total, 60, naive, 1e-9)
	}
	topics := randomTopics(r, 4, 6)
	for t := range topics {
		for w := range topics[t] {
			topics[t][w] = topics[t][w]/2 + 1.0/12
		}
	}
	counts := []int{3, 1, 2, 2, 5, 1}
	checkKernels(t, must(property.NewDocument(topics, counts, 4)), 4, 4, 1)
	checkKernels(t, must(property.NewDocument(topics[:3], counts, 4)), 3, 4, 1)
}

// Products of words are taken where the numbers are largest and smallest.
func TestDocumentExtremes(t *testing.T) {
	const words = 100
	counts := make([]int, words)
	for w := range counts {
		counts[w] = 1
	}
	for _, total := range []int{1, 1000, math.MaxInt32} {
		topics := make([][]float64, 2)
		for range words {
			topics[0] = append(topics[0], 1) // not a law, but the largest it could hold
			topics[1] = append(topics[1], 1e-9)
		}
		// What is hardly possible is not impossible.
		tiny := must(property.NewDocument([][]float64{{1e-200}, {1e-200}}, []int{1}, total))
		if y := tiny.LogScore(composition(t, []int{total, 0})); math.IsInf(y, -1) {
			t.Errorf("total %d: a word of a tiny probability is impossible", total)
		}
		p := must(property.NewDocument(topics, counts, total))
		for _, x := range [][]int{{total, 0}, {0, total}} {
			want := words * math.Log(words)
			tolerance := 1e-9
			if x[0] == 0 {
				want += words * math.Log(1e-9)
				tolerance += words * math.Ldexp(float64(total)/1e-9, -61)
			}
			if got := p.LogScore(composition(t, x)); math.Abs(got-want) > tolerance {
				t.Errorf("%v: %v, want %v ± %v", x, got, want, tolerance)
			}
		}
	}
}

func TestDocumentRefuses(t *testing.T) {
	kept := golden.Open(t)
	for k, err := range []error{
		second(property.NewDocument([][]float64{{1}}, nil, 5)),
		second(property.NewDocument([][]float64{{1}}, []int{0}, 5)),
		second(property.NewDocument([][]float64{{1}, {}}, []int{1}, 5)),
		second(property.NewDocument([][]float64{{math.NaN()}}, []int{1}, 5)),
		second(property.NewDocument([][]float64{{-0.1}}, []int{1}, 5)),
	} {
		if err == nil {
			t.Error("no error")
		}
		kept.CheckText(t, fmt.Sprint(k+1), fmt.Sprint(err))
	}
}

func BenchmarkDocumentLine(b *testing.B) {
	for _, words := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(words, " words"), func(b *testing.B) {
			counts := make([]int, words)
			r := rand.New(rand.NewPCG(1, 44))
			for w := range counts {
				counts[w] = 1 + r.IntN(4)
			}
			p := must(property.NewDocument(randomTopics(r, 50, words), counts, 100))
			benchmarkLine(b, p, 50, 100, 4)
		})
	}
}
