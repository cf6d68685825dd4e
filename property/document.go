package property

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"kir/internal/portable"
	"kir/mcmc"
)

// Document scores a composition as a mixture of topics, by the likelihood of a bag of words. The ingredients
// are the topics:
//
//	y(x) = Π_w (p_w / q_w)^{n_w},  p_w = Σ_t (x_t/M)·β_tw,  q_w = n_w / Σ_w n_w
//
// n_w is the count of word w in the document, and β_tw its probability in topic t. x_t/M is the share of topic
// t. y is the likelihood of a topic model with known topics, with the topic of each word summed out (Blei, Ng
// and Jordan, "Latent Dirichlet Allocation", JMLR 3 (2003), 993–1022, eq. 3). Dividing by q, the shares of the
// words in the document, scales the likelihood so that its upper limit is 1. −log y is Σ n_w times the
// Kullback–Leibler divergence from the words of the document to the words of the mixture.
//
// If the objective has weight 1, draws follow the posterior distribution of mixtures in steps of 1/M. The prior
// is the distribution of compositions without objectives.
//
// Probabilities are rounded to whole multiples of 2⁻ᵇ, b = 61 minus the number of bits of M, so that p_w is
// exact. Scoring one division of the joint amount of two topics takes one multiplication for each different
// word of the document, and one logarithm for every 16 words.
type Document struct {
	wordCount   int       // number of different words of the document
	topicWords  []int64   // word probabilities β in units of 2⁻ᵇ: one row per topic, one column per word of the document
	wordRuns    []wordRun // runs of neighbouring columns of topicWords whose words have equal counts
	logConstant float64   // constant Σ n_w·log(q_w·M·2ᵇ), which is subtracted in log y
}

// A wordRun is a range from..to−1 of neighbouring columns of [Document.topicWords]. Each word of the range
// occurs count times in the document.
type wordRun struct {
	from, to int
	count    float64
}

// maxProductFactors is the number of sums p_w (see [Document]) that are multiplied before a logarithm is taken.
// Each sum is from 1 to 2⁶², so the product of 16 sums is at most 2⁹⁹². A float64 overflows only at 2¹⁰²⁴.
const maxProductFactors = 16

var _ mcmc.LineProperty = (*Document)(nil)

// NewDocument returns a [Document]. topics has one row per topic with the probability of each word of the document;
// words that are not in the document are left out. counts holds how often each word occurs in the document, at
// least once. total is M, the units of a composition.
func NewDocument(topics [][]float64, counts []int, total int) (*Document, error) {
	words := len(counts)
	if words == 0 {
		return nil, fmt.Errorf("the document has no words")
	}
	d := &Document{wordCount: words, topicWords: make([]int64, len(topics)*words)}
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
			d.topicWords[t*words+at] = v
		}
	}
	for at, w := range order {
		n := float64(counts[w])
		if k := len(d.wordRuns) - 1; k >= 0 && d.wordRuns[k].count == n && at-d.wordRuns[k].from < maxProductFactors {
			d.wordRuns[k].to = at + 1
		} else {
			d.wordRuns = append(d.wordRuns, wordRun{at, at + 1, n})
		}
		d.logConstant += float64(n * (portable.Log(n/length) + portable.Log(float64(total)) + float64(float64(shift)*math.Ln2)))
	}
	return d, nil
}

// setWordSums sets p[w] to Σ_t x_t·β_tw for each word w, where x_t is the units of topic t and β_tw the
// probability of w in topic t.
func (d *Document) setWordSums(p []int64, x *mcmc.Composition) {
	clear(p)
	amounts := x.Amounts()
	for _, t := range x.Ingredients() {
		d.addTopic(p, int(t), int64(amounts[t]))
	}
}

// addTopic adds to p the word probabilities of topic t, multiplied by units.
func (d *Document) addTopic(p []int64, t int, units int64) {
	row := d.topicWords[t*d.wordCount : (t+1)*d.wordCount]
	for w := range p {
		p[w] += units * row[w]
	}
}

// logScoreFrom returns the log score of a composition. The item p[w] is Σ_t x_t·β_tw, where w counts the
// columns of topicWords.
func (d *Document) logScoreFrom(p []int64) float64 {
	sum := 0.0
	for _, run := range d.wordRuns {
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
		sum += float64(run.count * portable.Log(float64(even*odd)))
	}
	return sum - d.logConstant
}

// LogScore returns log y(x), the natural logarithm of the score y of the composition x.
func (d *Document) LogScore(x *mcmc.Composition) float64 {
	p := make([]int64, d.wordCount)
	d.setWordSums(p, x)
	return d.logScoreFrom(p)
}

// Scorer returns a new [mcmc.Scorer] for the composition x, which may change later.
func (d *Document) Scorer(x *mcmc.Composition) mcmc.Scorer {
	return &documentScorer{property: d, previousAmounts: previousAmounts{x: x}, wordSums: make([]int64, d.wordCount), splitWordSums: make([]int64, d.wordCount), splitWordSumSteps: make([]int64, d.wordCount)}
}

type documentScorer struct {
	property *Document
	previousAmounts
	wordSums          []int64 // item w is Σ_t x_t·β_tw, the sum for word w over the topics t, in units of 2⁻ᵇ; see [Document]
	splitWordSums     []int64 // scratch of Line: item w is the word sum at the present division of two topics' joint amount
	splitWordSumSteps []int64 // scratch of Line: item w is the increase of splitWordSums[w] to the next division
}

func (s *documentScorer) Reset() {
	s.previousAmounts.reset()
	s.property.setWordSums(s.wordSums, s.x)
}

func (s *documentScorer) LogScore() float64 { return s.property.logScoreFrom(s.wordSums) }

func (s *documentScorer) Line(i, j int, p *mcmc.PiecewiseConstant) {
	d := s.property
	clear(s.splitWordSumSteps)
	d.addTopic(s.splitWordSumSteps, i, 1)
	d.addTopic(s.splitWordSumSteps, j, -1)
	a := int64(s.x.Amount(i))
	for w, step := range s.splitWordSumSteps {
		s.splitWordSums[w] = s.wordSums[w] - a*step
	}
	q := pieceJoiner{pieces: p}
	for k := range int(a) + s.x.Amount(j) + 1 {
		q.add(k, d.logScoreFrom(s.splitWordSums))
		for w, step := range s.splitWordSumSteps {
			s.splitWordSums[w] += step
		}
	}
}

func (s *documentScorer) Moved(i, j int) {
	byI, byJ := s.previousAmounts.updateAndReturnChanges(i, j)
	s.property.addTopic(s.wordSums, i, int64(byI))
	s.property.addTopic(s.wordSums, j, int64(byJ))
}
