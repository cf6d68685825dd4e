package campaign

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kir/internal/compile"
	"kir/internal/inputerr"
	"kir/internal/testonly/testmode"
)

// scarce is a random problem of a small book that has little new to offer, or nothing.
type scarce struct {
	names       []string
	total       int
	lo, hi      int
	recipes     [][]int
	maxNew      int
	doses       bool // below the doses of the book nothing is offered
	within      bool
	excluded    int // ingredient; −1: none
	least, most int // amounts of an ingredient where it is used
	bounded     int // the ingredient; −1: none
	stocked     int // ingredient; −1: none
	stock       int
}

func randomScarce(r *rand.Rand) *scarce {
	s := &scarce{names: []string{"a", "b", "c", "d"}[:2+r.IntN(3)], total: 2 + r.IntN(6), maxNew: r.IntN(4) - 2, doses: r.IntN(2) == 0, within: r.IntN(3) == 0, excluded: -1, bounded: -1, stocked: -1}
	n := len(s.names)
	s.hi = 1 + r.IntN(min(n, s.total))
	s.lo = 1 + r.IntN(s.hi)
	if r.IntN(4) == 0 {
		s.excluded = r.IntN(n)
	}
	if r.IntN(3) == 0 {
		s.bounded, s.least = r.IntN(n), 1+r.IntN(s.total)
		s.most = s.least + r.IntN(s.total-s.least+1)
	}
	if r.IntN(4) == 0 {
		s.stocked, s.stock = r.IntN(n), r.IntN(s.total)
	}
	every := s.all(func(x []int) bool { return true })
	r.Shuffle(len(every), func(a, b int) { every[a], every[b] = every[b], every[a] })
	s.recipes = every[:min(len(every), 1+r.IntN(12))]
	return s
}

// all returns all compositions that a function keeps.
func (s *scarce) all(keeps func(x []int) bool) (out [][]int) {
	x := make([]int, len(s.names))
	var put func(i, left int)
	put = func(i, left int) {
		if i == len(x)-1 {
			x[i] = left
			if keeps(x) {
				out = append(out, slices.Clone(x))
			}
			return
		}
		for v := range left + 1 {
			x[i] = v
			put(i+1, left-v)
		}
	}
	put(0, s.total)
	return out
}

func (s *scarce) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "total: %d\ningredients: [%s]\nrecipes: book.csv\nsparsity: {uniform: [%d, %d]}\n", s.total, strings.Join(s.names, ", "), s.lo, s.hi)
	if s.maxNew >= 0 {
		fmt.Fprintf(&b, "campaign: {max_new: %d}\n", s.maxNew)
	}
	if !s.doses {
		b.WriteString("search: {doses: any}\n")
	}
	b.WriteString("constraints:\n  - group: {of: \"*\", used: [0, 4]}\n")
	if s.within {
		b.WriteString("  - amount: {of: \"*\", within: book}\n")
	}
	if s.excluded >= 0 {
		fmt.Fprintf(&b, "  - exclude: [%s]\n", s.names[s.excluded])
	}
	if s.bounded >= 0 {
		fmt.Fprintf(&b, "  - amount: {of: %s, min: %d, max: %d}\n", s.names[s.bounded], s.least, s.most)
	}
	if s.stocked >= 0 {
		fmt.Fprintf(&b, "  - amount: {of: %s, stock: %d, batch: %d}\n", s.names[s.stocked], s.stock, s.total)
	}
	return b.String()
}

// offers returns what may be offered first, by looking at all compositions.
func (s *scarce) offers() [][]int {
	n := len(s.names)
	least, most, used, smallest := make([]int, n), make([]int, n), make([]bool, n), s.total
	for _, x := range s.recipes {
		for i, v := range x {
			if v > 0 {
				if used[i] = true; least[i] == 0 || v < least[i] {
					least[i] = v
				}
				most[i], smallest = max(most[i], v), min(smallest, v)
			}
		}
	}
	return s.all(func(x []int) bool {
		count, fresh := 0, 0
		for i, v := range x {
			if v == 0 {
				continue
			}
			count++
			if !used[i] {
				fresh++
			}
			dose := least[i]
			if dose == 0 {
				dose = smallest
			}
			if s.doses && v < dose || s.within && (v < least[i] || v > most[i]) || i == s.excluded ||
				i == s.bounded && (v < s.least || v > s.most) || i == s.stocked && v > s.stock {
				return false
			}
		}
		return count >= s.lo && count <= s.hi && (s.maxNew < 0 || fresh <= s.maxNew) && !slices.ContainsFunc(s.recipes, func(y []int) bool { return slices.Equal(x, y) })
	})
}

func (s *scarce) write(t *testing.T, dir string) string {
	t.Helper()
	book := "recipe," + strings.Join(s.names, ",") + "\n"
	for k, x := range s.recipes {
		book += fmt.Sprintf("r%d", k)
		for _, v := range x {
			book += fmt.Sprint(",", v)
		}
		book += "\n"
	}
	path := filepath.Join(dir, "bar.yaml")
	for name, text := range map[string]string{path: s.text(), filepath.Join(dir, "book.csv"): book} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

var (
	dropFix  = regexp.MustCompile(`^drop ".*" \(line (\d+)\)$`)
	allowFix = regexp.MustCompile(`^allow (\d+) ingredients? in the sparsity \(line 4\)$`)
	stockFix = regexp.MustCompile(`^raise the stock of "(.)" by ([\d.]+) % of a recipe$`)
)

// mended returns the problem with a fix that is of its lines in a text.
func (s scarce) mended(t *testing.T, text, fix string) scarce {
	t.Helper()
	if number, ok := strings.CutPrefix(fix, "write max_new: "); ok {
		n, err := strconv.Atoi(strings.TrimSuffix(number, " under campaign"))
		if err != nil || n <= s.maxNew {
			t.Fatalf("%q for max_new: %d", fix, s.maxNew)
		}
		s.maxNew = n
		return s
	}
	if m := allowFix.FindStringSubmatch(fix); m != nil {
		n, _ := strconv.Atoi(m[1])
		s.lo, s.hi = min(s.lo, n), max(s.hi, n)
		return s
	}
	if m := stockFix.FindStringSubmatch(fix); m != nil {
		by, _ := strconv.ParseFloat(m[2], 64)
		s.stock += int(by*float64(s.total)/100 + 0.5)
		return s
	}
	m := dropFix.FindStringSubmatch(fix)
	switch {
	case fix == "write search: {doses: any}":
		s.doses = false
	case m == nil:
		t.Fatalf("%q is no fix", fix)
	default:
		line, _ := strconv.Atoi(m[1])
		switch rule := strings.Split(text, "\n")[line-1]; {
		case strings.Contains(rule, "within"):
			s.within = false
		case strings.Contains(rule, "exclude"):
			s.excluded = -1
		case strings.Contains(rule, "stock"):
			s.stocked = -1
		case strings.Contains(rule, "min"):
			s.bounded = -1
		default:
			t.Fatalf("%q names %q", fix, rule)
		}
	}
	return s
}

// fixesOf returns the fixes of a hint.
func fixesOf(hint string) []string {
	parted := betweenFixes.ReplaceAllStringFunc(hint, func(m string) string { return "\n" + m[strings.LastIndex(m, " ")+1:] })
	return strings.Split(parted, "\n")
}

var betweenFixes = regexp.MustCompile(`(,| and| or) (write|drop|allow|raise)`)

// seePartial sees that the fix of a batch of fewer recipes than asked for brings more.
func (s *scarce) seePartial(t *testing.T, b *Batch, seen map[string]int) {
	t.Helper()
	note := strings.Join(b.Notes, " ")
	if strings.Contains(note, "no bound leaves out more") {
		free := scarce{names: s.names, total: s.total, lo: 1, hi: len(s.names), recipes: s.recipes, maxNew: -1, excluded: -1, bounded: -1, stocked: -1}
		if left := free.offers(); len(left) > len(b.Entries) {
			t.Errorf("%s%v\n%q, and without bounds there are %d", s.text(), s.recipes, note, len(left))
		}
		return
	}
	at := strings.Index(note, " For more, ")
	if at < 0 {
		t.Errorf("%s%v\n%d recipes, and no fix: %q", s.text(), s.recipes, len(b.Entries), note)
		return
	}
	hint := strings.TrimSuffix(note[at+len(" For more, "):], ".")
	if seen["partial"] >= testmode.Pick(500, 5) {
		return
	}
	if m := stockFix.FindStringSubmatch(hint); m != nil { // beside these recipes
		seen["raise"]++
		after, left := s.mended(t, s.text(), hint), 0
		for _, e := range b.Entries {
			after.stock -= e.Recipe[s.names[s.stocked]]
		}
		left = after.stock
		after.stock = s.stock // in one recipe
		if !slices.ContainsFunc(after.offers(), func(x []int) bool {
			return x[s.stocked] <= left && !slices.ContainsFunc(b.Entries, func(e Entry) bool {
				return !slices.ContainsFunc(s.names, func(name string) bool { return e.Recipe[name] != x[slices.Index(s.names, name)] })
			})
		}) {
			t.Errorf("%s%v\n%q\nand then there is none beside %v", s.text(), s.recipes, note, b.Entries)
		}
		return
	}
	seen["partial"]++
	list, mended := fixesOf(hint), *s
	if strings.Contains(note, "keeps any of") {
		for _, fix := range list {
			mended = mended.mended(t, s.text(), fix)
		}
	} else {
		mended = s.mended(t, s.text(), list[seen["partial"]%len(list)])
	}
	c, err := Open(t.Context(), mended.write(t, t.TempDir()), compile.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	more, err := c.Choose(t.Context(), Settings{BatchSize: 3, Seed: b.Seed, MaxNewIngredients: c.Problem.Campaign.MaxNew, Workers: 1})
	if err != nil || len(more.Entries) <= len(b.Entries) {
		t.Errorf("%s%v\n%q\nand then %v, %+v", s.text(), s.recipes, note, err, more)
	}
}

// TestNothingLeftIsExplained: where random bounds leave nothing that was not tried, what kir
// names is to blame: each fix, or all of them together where it says so and then none less,
// leaves recipes; and where it names none, none does. All compositions are looked at.
func TestNothingLeftIsExplained(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 1))
	seen := make(map[string]int)
	for k := range testmode.Pick(6000, 300) {
		s := randomScarce(r)
		offers := s.offers()
		if len(offers) > 2 {
			continue
		}
		free := scarce{names: s.names, total: s.total, lo: 1, hi: len(s.names), recipes: s.recipes, maxNew: -1, excluded: -1, bounded: -1, stocked: -1}
		if len(free.offers()) == 0 && k%10 > 0 {
			continue // it is known what to say of those
		}
		path := s.write(t, t.TempDir())
		c, err := Open(t.Context(), path, compile.Options{Workers: 1})
		if err != nil {
			continue // the rules cannot hold, or no recipe keeps them
		}
		b, err := c.Choose(t.Context(), Settings{BatchSize: 3, Seed: uint64(k), MaxNewIngredients: c.Problem.Campaign.MaxNew, Workers: 1})
		if err == nil {
			if len(offers) == 0 || len(b.Entries) > len(offers) {
				t.Errorf("%s\n%d recipes where there are %d", s.text(), len(b.Entries), len(offers))
			}
			s.seePartial(t, b, seen)
			continue
		}
		var bad *inputerr.Error
		if len(offers) > 0 || !errors.As(err, &bad) {
			t.Fatalf("%s%v\nof %d recipes: %v", s.text(), s.recipes, len(offers), err)
		}
		if strings.Contains(bad.Message, "no bound leaves out more") {
			seen["nothing"]++
			if left := free.offers(); len(left) > 0 {
				t.Errorf("%s%v\n%v, and without bounds %d are left", s.text(), s.recipes, err, len(left))
			}
			continue
		}
		list := fixesOf(bad.Hint)
		together := strings.Contains(bad.Message, "keeps any of")
		for i, fix := range list {
			seen[strings.Fields(fix)[0]+" "+strings.Fields(fix)[1]]++
			alone := s.mended(t, s.text(), fix)
			if left := alone.offers(); (len(left) == 0) != together {
				t.Errorf("%s%v\n%v\n%q leaves %d recipes", s.text(), s.recipes, err, fix, len(left))
			}
			if together {
				less := *s
				for j, other := range list {
					if j != i {
						less = less.mended(t, s.text(), other)
					}
				}
				if left := less.offers(); len(left) > 0 {
					t.Errorf("%s%v\n%v\nwithout %q %d recipes are left all the same", s.text(), s.recipes, err, fix, len(left))
				}
			}
			if !together && k%10 == 0 {
				again, err := Open(t.Context(), alone.write(t, t.TempDir()), compile.Options{Workers: 1})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := again.Choose(t.Context(), Settings{BatchSize: 1, Seed: 1, MaxNewIngredients: again.Problem.Campaign.MaxNew, Workers: 1}); err != nil {
					t.Errorf("%s\nmended: %v", alone.text(), err)
				}
			}
		}
		if together {
			seen["together"]++
			all := *s
			for _, fix := range list {
				all = all.mended(t, s.text(), fix)
			}
			if len(all.offers()) == 0 {
				t.Errorf("%s%v\n%v\nall together leave nothing", s.text(), s.recipes, err)
			}
		}
	}
	t.Log(seen)
	for _, kind := range []string{"nothing", "together", "write max_new:", "write search:", "drop \"every", "drop \"never", "allow 1", "partial"} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(seen)), func(k string) bool { return strings.HasPrefix(k, kind) }) {
			t.Errorf("nothing was explained by %q", kind)
		}
	}
}
