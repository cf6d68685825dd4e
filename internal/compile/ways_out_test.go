package compile

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kir/internal/inputerr"
	"kir/internal/number"
)

// A drawnRule is a rule of a random problem, in the words of the documentation.
// Numbers of attributes and limits are tenths of thousandths.
type drawnRule struct {
	kind           string // require, exclude, amount, used, total, needs, limit; none if dropped
	of             []int
	min, max, step int // of limits and amounts; −1 where there is none
	attribute      int
	then           []int
}

const decimals = 10_000

// keeps reads the rule from its definition.
func (r drawnRule) keeps(x []int, attributes [][]int) bool {
	used, sum := 0, 0
	for _, i := range r.of {
		used += min(x[i], 1)
		sum += x[i]
	}
	within := func(v int) bool { return (r.min < 0 || v >= r.min) && (r.max < 0 || v <= r.max) }
	switch r.kind {
	case "require":
		return used == len(r.of)
	case "exclude":
		return used == 0
	case "amount":
		for _, i := range r.of {
			first, step := r.min, max(r.step, 1)
			if first < 0 {
				first = step
			}
			if a := x[i]; a > 0 && (a < first || (a-first)%step != 0 || r.max >= 0 && a > r.max) {
				return false
			}
		}
		return true
	case "used":
		return within(used)
	case "total":
		return within(sum)
	case "needs":
		return x[r.of[0]] == 0 || slices.ContainsFunc(r.then, func(i int) bool { return x[i] > 0 })
	case "limit":
		mean, total := 0, 0 // the mean times the total, in decimals
		for i, a := range x {
			mean += attributes[r.attribute][i] * a
			total += a
		}
		return (r.min < 0 || mean >= r.min*total) && (r.max < 0 || mean <= r.max*total)
	}
	return true
}

// A drawnProblem is a random problem.
type drawnProblem struct {
	total      int
	names      []string
	attributes [][]int
	rules      []drawnRule
	sizes      []int
}

func drawProblem(r *rand.Rand) *drawnProblem {
	n := 2 + r.IntN(5)
	p := &drawnProblem{total: 4 + r.IntN(9), names: strings.Split("ABCDEF", "")[:n], attributes: make([][]int, 2)}
	for k := range p.attributes {
		for range n {
			p.attributes[k] = append(p.attributes[k], r.IntN(450)*decimals/10)
		}
	}
	some := func() []int {
		of := r.Perm(n)[:1+r.IntN(n)]
		slices.Sort(of)
		return of
	}
	for range 2 + r.IntN(6) {
		q := drawnRule{min: -1, max: -1}
		switch r.IntN(8) {
		case 0:
			q.kind, q.of = "require", some()[:1]
		case 1:
			q.kind, q.of = "exclude", some()[:1]
		case 2:
			q.kind, q.of, q.min = "amount", some(), 1+r.IntN(p.total/2)
			if r.IntN(2) == 0 {
				q.step = 2 + r.IntN(2)
			}
		case 3:
			q.kind, q.of, q.max = "amount", some(), 1+r.IntN(p.total/2)
		case 4:
			q.kind, q.of = "used", some()
			q.min = r.IntN(len(q.of) + 1)
			q.max = q.min + r.IntN(len(q.of)+1-q.min)
		case 5:
			q.kind, q.of = "total", some()
			q.min = r.IntN(p.total + 1)
			q.max = q.min + r.IntN(p.total+1-q.min)
		case 6:
			q.kind, q.of, q.then = "needs", []int{r.IntN(n)}, some()
		case 7:
			q.kind, q.attribute, q.min = "limit", r.IntN(2), r.IntN(400)*decimals/10
			q.max = q.min + r.IntN(100)*decimals/10
			if r.IntN(3) == 0 {
				q.max = -1
			}
		}
		p.rules = append(p.rules, q)
		if texts := p.texts(); slices.Contains(texts[:len(texts)-1], texts[len(texts)-1]) {
			p.rules = p.rules[:len(p.rules)-1] // advice tells them apart by their lines
		}
	}
	lo := 1 + r.IntN(min(n, p.total))
	for s := lo; s <= min(n, p.total) && s <= lo+2; s++ {
		p.sizes = append(p.sizes, s)
	}
	return p
}

func (p *drawnProblem) list(of []int) string {
	var names []string
	for _, i := range of {
		names = append(names, p.names[i])
	}
	return "[" + strings.Join(names, ", ") + "]"
}

func decimal(v int) string { return strconv.FormatFloat(float64(v)/decimals, 'f', -1, 64) }

// write writes the problem and returns where.
func (p *drawnProblem) write(t *testing.T) string {
	t.Helper()
	var table, yaml strings.Builder
	table.WriteString("name,a0,a1\n")
	for i, name := range p.names {
		fmt.Fprintf(&table, "%s,%s,%s\n", name, decimal(p.attributes[0][i]), decimal(p.attributes[1][i]))
	}
	fmt.Fprintf(&yaml, "total: %d\ningredients: shelf.csv\nsparsity: {uniform: [%d, %d]}\nconstraints:\n", p.total, p.sizes[0], p.sizes[len(p.sizes)-1])
	for _, r := range p.rules {
		switch r.kind {
		case "require", "exclude":
			fmt.Fprintf(&yaml, "  - %s: %s\n", r.kind, p.list(r.of))
		case "amount":
			fmt.Fprintf(&yaml, "  - amount: {of: %s", p.list(r.of))
			for k, v := range []int{r.min, r.max, r.step} {
				if v > 0 {
					fmt.Fprintf(&yaml, ", %s: %d", []string{"min", "max", "step"}[k], v)
				}
			}
			yaml.WriteString("}\n")
		case "used", "total":
			fmt.Fprintf(&yaml, "  - group: {of: %s, %s: [%d, %d]}\n", p.list(r.of), r.kind, r.min, r.max)
		case "needs":
			fmt.Fprintf(&yaml, "  - needs: {if: %s, then: %s}\n", p.names[r.of[0]], p.list(r.then))
		case "limit":
			fmt.Fprintf(&yaml, "  - limit: {attribute: a%d, min: %s", r.attribute, decimal(r.min))
			if r.max >= 0 {
				fmt.Fprintf(&yaml, ", max: %s", decimal(r.max))
			}
			yaml.WriteString("}\n")
		}
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"problem.yaml": yaml.String(), "shelf.csv": table.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "problem.yaml")
}

// possible says whether a composition keeps the rules; short is by how much
// least amounts may be missed in all.
func (p *drawnProblem) possible(short int) bool {
	x := make([]int, len(p.names))
	var from func(i, left int) bool
	from = func(i, left int) bool {
		if i < len(x)-1 {
			for a := range left + 1 {
				x[i] = a
				if from(i+1, left-a) {
					return true
				}
			}
			return false
		}
		x[i] = left
		used, missed := 0, 0
		for i, a := range x {
			used += min(a, 1)
			least := 0
			for _, r := range p.rules {
				if r.kind == "amount" && slices.Contains(r.of, i) {
					least = max(least, r.min)
				}
			}
			if a > 0 {
				missed += max(0, least-a)
			}
		}
		if !slices.Contains(p.sizes, used) || short > 0 && missed > short {
			return false
		}
		return !slices.ContainsFunc(p.rules, func(r drawnRule) bool {
			if short > 0 && r.kind == "amount" {
				r.min, r.step = -1, 0
			}
			return !r.keeps(x, p.attributes)
		})
	}
	return from(0, p.total)
}

var advice = regexp.MustCompile(`(?:lower|raise) the (min|max|least used|most used|least total|greatest total) of ("[^"]*") from [0-9.]+(?: %)? to ([0-9.]+)( %)?` +
	`|drop (the step of )?("[^"]*")` +
	`|do not (require|exclude) ([A-F](?:, [A-F])*(?: and [A-F])?)` +
	`|allow ([0-9]+) used ingredients?` +
	`|lower them by ([0-9]+) in all \([^)]*\)`)

// follow returns the problems that the ways out lead to, by what they say, and
// how much least amounts are lowered in all.
func (p *drawnProblem) follow(t *testing.T, texts []string, said string) (changed []*drawnProblem, short []int) {
	t.Helper()
	next := true // what follows is another way out
	for said != "" {
		at := advice.FindStringSubmatchIndex(said)
		if at == nil || at[0] != 0 {
			t.Fatalf("%q is advice of another form", said)
		}
		m := advice.FindStringSubmatch(said)
		said = said[at[1]:]
		if next {
			changed = append(changed, &drawnProblem{p.total, p.names, p.attributes, slices.Clone(p.rules), slices.Clone(p.sizes)})
			short = append(short, 0)
		}
		q := changed[len(changed)-1]
		find := func(text string) *drawnRule {
			text, _ = strconv.Unquote(text)
			k := slices.Index(texts, text)
			if k < 0 {
				t.Fatalf("advice on %q, which is no rule of %q", text, texts)
			}
			return &q.rules[k]
		}
		switch {
		case m[1] != "":
			r := find(m[2])
			v, err := strconv.ParseFloat(m[3], 64)
			if err != nil {
				t.Fatal(err)
			}
			if r.kind == "limit" {
				v *= decimals
			}
			if m[4] != "" {
				v = math.Round(v / 100 * float64(p.total))
			}
			to := int(v + 0.5)
			if float64(to) != v && r.kind != "limit" {
				t.Fatalf("%q is no whole number", m[3])
			}
			if m[1] == "max" || m[1] == "most used" || m[1] == "greatest total" {
				r.max = to
			} else {
				r.min = to
			}
		case m[5] != "":
			find(m[6]).step = 0
		case m[6] != "":
			*find(m[6]) = drawnRule{}
		case m[7] != "":
			for k := range q.rules {
				if r := &q.rules[k]; r.kind == m[7] {
					r.of = slices.DeleteFunc(slices.Clone(r.of), func(i int) bool { return strings.Contains(m[8], p.names[i]) })
				}
			}
		case m[9] != "":
			n, _ := strconv.Atoi(m[9])
			q.sizes = append(q.sizes, n)
		case m[10] != "":
			short[len(short)-1], _ = strconv.Atoi(m[10])
		}
		for _, by := range []string{" and ", ", ", " or "} {
			if rest, ok := strings.CutPrefix(said, by); ok {
				said, next = rest, by != " and "
				break
			}
		}
	}
	return changed, short
}

// Random problems with rules of all kinds are read from files. What has
// compositions loads, what has none is explained, and each way out, followed as
// it is printed, leads to a problem that has some; all of this by looking at
// every composition.
func TestWaysOutFree(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 200))
	infeasible, ways := 0, 0
	for infeasible < 200 {
		p := drawProblem(r)
		path := p.write(t)
		loaded, err := Load(context.Background(), path, Options{})
		if p.possible(0) {
			if err != nil {
				t.Fatalf("%+v has compositions: %v", p, err)
			}
			loaded.Close()
			continue
		}
		infeasible++
		var bad *inputerr.Error
		if !errors.As(err, &bad) || !strings.Contains(bad.Message, "these constraints cannot all hold: ") {
			t.Errorf("%+v is not explained: %v", p, err)
			continue
		}
		if bad.Hint == "" {
			t.Errorf("%+v: no way out: %v", p, err)
			continue
		}
		changed, short := p.follow(t, p.texts(), bad.Hint)
		for k, q := range changed {
			ways++
			if !q.possible(short[k]) {
				t.Errorf("%+v: way out %d of %q leads nowhere", p, k, bad.Hint)
			}
		}
	}
	t.Logf("%d infeasible problems, %d ways out", infeasible, ways)
	if ways < 220 {
		t.Errorf("%d ways out are few", ways)
	}
}

// texts are what rules are called.
func (p *drawnProblem) texts() []string {
	var texts []string
	for _, r := range p.rules {
		of := strings.Trim(p.list(r.of), "[]")
		if len(r.of) > 4 {
			of = strings.Trim(p.list(r.of[:4]), "[]") + fmt.Sprintf(" and %d more", len(r.of)-4)
		}
		text := ""
		switch r.kind {
		case "require":
			text = "always use " + of
		case "exclude":
			text = "never use " + of
		case "amount":
			var words []string
			if r.min > 0 || r.max > 0 {
				each := ""
				if len(r.of) > 1 {
					each = "each "
				}
				words = append(words, each+p.bounds(r.min, r.max, p.total+1))
			}
			if r.step > 0 {
				words = append(words, "in steps of "+number.ShortShare(r.step, p.total))
			}
			if r.min > 0 {
				words = append(words, "if used")
			}
			text = of + ": " + strings.Join(words, ", ")
		case "used":
			lo, hi, noun := strconv.Itoa(r.min), strconv.Itoa(r.max), "ingredients"
			switch {
			case r.min == r.max:
				lo = "exactly " + lo
				hi = ""
			case r.min == 0:
				lo, hi = "at most "+hi, ""
			case r.max >= len(r.of):
				lo, hi = "at least "+lo, ""
			default:
				lo += " to "
			}
			if number := strings.TrimLeft(lo+hi, "abcdefghijklmnopqrstuvwxyz "); number == "1" {
				noun = "ingredient"
			}
			text = of + ": " + lo + hi + " " + noun
		case "total":
			text = of + ": together " + p.bounds(r.min, r.max, p.total)
			if r.min == r.max {
				text = of + ": together exactly " + number.ShortShare(r.min, p.total)
			}
		case "needs":
			then := strings.Trim(p.list(r.then), "[]")
			if len(r.then) > 4 {
				then = strings.Trim(p.list(r.then[:4]), "[]") + fmt.Sprintf(" and %d more", len(r.then)-4)
			}
			if len(r.then) > 1 {
				then = "any of " + then
			}
			text = of + " needs " + then
		case "limit":
			words := "at least " + decimal(r.min)
			if r.max == r.min {
				words = "exactly " + decimal(r.min)
			} else if r.max >= 0 {
				words = decimal(r.min) + " to " + decimal(r.max)
			}
			text = fmt.Sprintf("a%d: %s (mean over the recipe)", r.attribute, words)
		}
		texts = append(texts, text)
	}
	return texts
}

// bounds describes bounds of amounts. A max of at least unbounded units is no bound.
func (p *drawnProblem) bounds(least, most, unbounded int) string {
	lo, hi := number.ShortShare(least, p.total), number.ShortShare(most, p.total)
	switch {
	case most <= 0 || most >= unbounded:
		return "at least " + lo
	case least <= 0:
		return "at most " + hi
	case least == most:
		return "exactly " + lo
	}
	return strings.TrimSuffix(lo, " %") + " to " + hi
}
