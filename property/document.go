package property

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"kir/internal/portable"
	"kir/mcmc"
)

// Document is the likelihood of a bag of words under a mixture of topics. The composition is the
// mixture:
//
//	y(x) = Π_w (p_w / q_w)^{n_w},  p_w = Σ_t (x_t/M)·β_tw,  q_w = n_w / Σ_w n_w
//
// n_w is the count of word w in the document, and β_tw its probability in topic t. This is the
// likelihood of topic models with known topics, with the topic of each word summed out (Blei, Ng
// and Jordan, "Latent Dirichlet Allocation", JMLR 3 (2003), 993–1022, eq. 3). Dividing by the
// words' own shares q scales the likelihood so that its upper limit is 1. −log y is Σ n_w times the
// Kullback–Leibler divergence from the document's words to the mixture's.
//
// With weight 1 the draws are the posterior over mixtures in steps of 1/M, with the sparsity law as
// the prior.
//
// Probabilities are rounded to whole multiples of 2⁻ᵇ, b = 61 less the bits of M, so that p_w is
// exact along the line. A split takes one multiplication for each different word of the document,
// and one logarithm for every 16 words.
type Document struct {
	words int
	table []int64  // word probabilities β in units of 2⁻ᵇ: one row per topic, one column per word of the document
	runs  []docRun // runs of table columns whose words have equal counts
	base  float64  // constant Σ n_w·log(q_w·M·2ᵇ), which log y subtracts
}

// A docRun is a range of neighbouring table columns whose words occur equally often in the document.
type docRun struct {
	from, to int
	times    float64
}

// maxFactors is how many table sums, each from 1 to 2⁶², are multiplied before a logarithm is taken. The product
// of 16 is below 2¹⁰²⁴, where a float64 overflows.
const maxFactors = 16

var _ mcmc.LineProperty = (*Document)(nil)

// NewDocument returns a [Document]. topics has one row per topic with the probability of each word of the document;
// words outside the document are left out. counts holds how often each word occurs in the document, at least once.
// total is M.
func NewDocument(topics [][]float64, counts []int, total int) (*Document, error) {
	words := len(counts)
	if words == 0 {
		return nil, fmt.Errorf("the document has no words")
	}
	d := &Document{words: words, table: make([]int64, len(topics)*words)}
	length := 0.0
	order := make([]int, words)
	for w, n := range counts {
		if n < 1 {
			return nil, fmt.Errorf("word %d is there %d times: it must be at least once", w, n)
		}
		length += float64(n)
		order[w] = w
	}
	slices.SortStableFunc(order, func(v, w int) int { return counts[v] - counts[w] })
	shift := 61 - bits.Len(uint(total))
	for t, row := range topics {
		if len(row) != words {
			return nil, fmt.Errorf("topic %d has %d words, and the document %d", t, len(row), words)
		}
		for w, p := range row {
			if !(p >= 0 && p <= 1) {
				return nil, fmt.Errorf("the probability of word %d in topic %d is %v: it must be from 0 to 1", w, t, p)
			}
		}
		for at, w := range order {
			// A positive probability is never rounded to 0, which would forbid a topic.
			v := int64(math.RoundToEven(math.Ldexp(row[w], shift)))
			if v == 0 && row[w] > 0 {
				v = 1
			}
			d.table[t*words+at] = v
		}
	}
	for at, w := range order {
		n := float64(counts[w])
		if k := len(d.runs) - 1; k >= 0 && d.runs[k].times == n && at-d.runs[k].from < maxFactors {
			d.runs[k].to = at + 1
		} else {
			d.runs = append(d.runs, docRun{at, at + 1, n})
		}
		d.base += float64(n * (portable.Log(n/length) + portable.Log(float64(total)) + float64(float64(shift)*math.Ln2)))
	}
	return d, nil
}

// sums sets p to Σ_t x_t·β_tw for each word w, in units of 2⁻ᵇ.
func (d *Document) sums(p []int64, x *mcmc.Composition) {
	clear(p)
	amounts := x.Amounts()
	for _, t := range x.Ingredients() {
		d.add(p, int(t), int64(amounts[t]))
	}
}

// add adds to p the word probabilities of topic t, times units.
func (d *Document) add(p []int64, t int, units int64) {
	row := d.table[t*d.words : (t+1)*d.words]
	for w := range p {
		p[w] += units * row[w]
	}
}

// log returns log y, given p = Σ_t x_t·β_tw for each word in the order of the table's columns.
func (d *Document) log(p []int64) float64 {
	sum := 0.0
	for _, run := range d.runs {
		words := p[run.from:run.to]
		// Two independent products let the processor multiply in parallel.
		even, odd := 1.0, 1.0
		for len(words) >= 2 {
			even = float64(even * float64(words[0]))
			odd = float64(odd * float64(words[1]))
			words = words[2:]
		}
		if len(words) == 1 {
			even = float64(even * float64(words[0]))
		}
		sum += float64(run.times * portable.Log(float64(even*odd)))
	}
	return sum - d.base
}

// LogScore returns log y(x).
func (d *Document) LogScore(x *mcmc.Composition) float64 {
	p := make([]int64, d.words)
	d.sums(p, x)
	return d.log(p)
}

// Scorer returns a scorer of x.
func (d *Document) Scorer(x *mcmc.Composition) mcmc.Scorer {
	return &documentScorer{property: d, previousAmounts: previousAmounts{x: x}, p: make([]int64, d.words), at: make([]int64, d.words), step: make([]int64, d.words)}
}

type documentScorer struct {
	property *Document
	previousAmounts
	p        []int64 // Σ_t x_t·β_tw for each word w, in units of 2⁻ᵇ
	at, step []int64 // scratch of Line: the word sums at a split, and their increments to the next split
}

func (s *documentScorer) Reset() {
	s.previousAmounts.reset()
	s.property.sums(s.p, s.x)
}

func (s *documentScorer) LogScore() float64 { return s.property.log(s.p) }

func (s *documentScorer) Line(i, j int, p *mcmc.Pieces) {
	d := s.property
	clear(s.step)
	d.add(s.step, i, 1)
	d.add(s.step, j, -1)
	a := int64(s.x.Amount(i))
	for w, step := range s.step {
		s.at[w] = s.p[w] - a*step
	}
	q := joiner{pieces: p}
	for k := range int(a) + s.x.Amount(j) + 1 {
		q.add(k, d.log(s.at))
		for w, step := range s.step {
			s.at[w] += step
		}
	}
}

func (s *documentScorer) Moved(i, j int) {
	byI, byJ := s.previousAmounts.changes(i, j)
	s.property.add(s.p, i, int64(byI))
	s.property.add(s.p, j, int64(byJ))
}
