package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kir/internal/testonly/golden"
)

// A forest from a file knows the rows that it was grown from, and no others.
func TestGrownFrom(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for name, b := range growingBooks {
		for _, groups := range []bool{false, true} {
			d := b.data()
			if groups {
				withGroups(d, random)
			}
			f, err := Read(bytes.NewReader(saved(t, mustGrow(t, d, Options{Seed: 3}))))
			if err != nil {
				t.Fatal(err)
			}
			grown := func() bool {
				t.Helper()
				ok, err := f.IsGrownFrom(t.Context(), d)
				if err != nil {
					t.Fatal(err)
				}
				return ok
			}
			if d.Features = nil; !grown() {
				t.Errorf("%s: it does not know its rows", name)
			}
			last := len(d.Rows) - 1
			swap := func(x, y int) {
				d.Rows[x], d.Rows[y] = d.Rows[y], d.Rows[x]
			}
			if !reflect.DeepEqual(d.Rows[0], d.Rows[last]) {
				swap(0, last)
				if grown() && last > 3 {
					t.Errorf("%s: it takes two recipes for each other", name)
				}
				swap(0, last)
			}
			d.Rows = d.Rows[:last]
			if d.Classes != nil {
				d.Classes = d.Classes[:last]
			} else {
				d.Numbers = d.Numbers[:last]
			}
			if grown() {
				t.Errorf("%s: it misses no row", name)
			}
		}
	}
}

// TestSaveAndLoad writes forests, reads them, and compares all that they say.
func TestSaveAndLoad(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, b := range growingBooks {
		for _, groups := range []bool{false, true} {
			d := b.data()
			if groups {
				withGroups(d, random)
			}
			f := mustGrow(t, d, Options{Seed: 1<<63 + 5, Importances: groups})
			file := saved(t, f)
			again, err := Read(bytes.NewReader(file))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if !bytes.Equal(saved(t, again), file) {
				t.Errorf("%s: saved once more, the forest differs", name)
			}
			for what, pair := range map[string][2]any{
				"label":       {f.Label(), again.Label()},
				"classes":     {f.Classes(), again.Classes()},
				"numbers":     {f.numbers, again.numbers},
				"ingredients": {f.Ingredients(), again.Ingredients()},
				"total":       {f.Total(), again.Total()},
				"features":    {f.Features(), again.Features()},
				"rows":        {f.Rows(), again.Rows()},
				"trees":       {f.trees, again.trees},
				"options":     {f.Options(), again.Options()},
				"quality":     {f.Quality(), again.Quality()},
				"importances": {f.Importances(), again.Importances()},
			} {
				if !reflect.DeepEqual(pair[0], pair[1]) {
					t.Errorf("%s: %s was %v and is %v", name, what, pair[0], pair[1])
				}
			}
			var w Want
			if f.Numeric() {
				w = AtLeast(f.numbers[len(f.numbers)/3])
			} else {
				w = AnyOf(f.classes[0])
			}
			s, sAgain := mustScore(t, f, w), mustScore(t, again, w)
			for range 100 {
				x := b.composition(random, nil)
				if s.Point(x) != sAgain.Point(x) {
					t.Fatalf("%s: %v scores %d before and %d after", name, x, s.Point(x), sAgain.Point(x))
				}
			}
		}
	}
}

// smallFile is a forest of three trees for classes x and y.
func smallFile(tb testing.TB) []byte {
	d := &Data{
		Label: "l", Ingredients: []string{"a", "b", "c"}, Total: 10,
		Rows:    [][]Part{{{0, 10}}, {{0, 5}, {1, 5}}, {{1, 7}, {2, 3}}, {{2, 10}}, {{0, 1}, {2, 9}}},
		Classes: []string{"x", "y", "y", "x", "x"},
	}
	d.Features = append(amountFeatures(d.Ingredients), Feature{Name: "a or b", Ingredients: []int32{0, 1}, Presence: true})
	return saved(tb, mustGrow(tb, d, Options{Trees: 3, Splits: BestSplits, Seed: 4, Importances: true}))
}

func TestDamagedFiles(t *testing.T) {
	kept := golden.Open(t)
	good := string(smallFile(t))
	first := strings.Index(good, "\n") + 1          // the first tree's line
	feature := func(n string) func(string) string { // the first test's feature
		return func(s string) string {
			at := first + strings.Index(s[first:], "[") + 1
			return s[:at] + n + s[at+strings.Index(s[at:], ","):]
		}
	}
	replace := func(old, new string) func(string) string {
		return func(s string) string {
			if !strings.Contains(s, old) {
				t.Fatalf("no %q in %s", old, s)
			}
			return strings.Replace(s, old, new, 1)
		}
	}
	inTree := func(change func(t *savedTree)) func(string) string {
		return func(s string) string {
			var f savedForest
			if err := json.Unmarshal([]byte(s), &f); err != nil {
				t.Fatal(err)
			}
			change(&f.Trees[1])
			out, _ := json.Marshal(f)
			return string(out)
		}
	}
	for _, c := range []struct {
		name   string
		damage func(string) string
		want   string
	}{
		{"empty", func(string) string { return "" }, "the file is empty"},
		{"blank", func(string) string { return " \n" }, "the file is empty"},
		{"cut off", func(s string) string { return s[:len(s)/2] }, "the file ends too early; it was cut off"},
		{"not JSON", func(s string) string { return "forest" }, "line 1, column 2: invalid character"},
		{"two documents", func(s string) string { return s + "{}" }, "invalid character '{' after top-level value"},
		{"another format", replace(`"kir forest"`, `"scikit"`), `this is not a saved forest: format is "scikit"`},
		{"no format", func(string) string { return "{}" }, `format is "" and should be "kir forest"`},
		{"another version", replace(`"version":2`, `"version":5`), "made by another version of kir, in version 5 of the format; this one reads versions 2 to 4"},
		{"changed", replace(`"seed":4`, `"seed":5`), "its checksum is another"},
		{"an old version", replace(`"version":2`, `"version":1`), "made by another version of kir, in version 1 of the format"},
		{"a checksum in capitals", func(s string) string { return s[:len(s)-70] + strings.ToUpper(s[len(s)-70:]) }, "its checksum is another"},
		{"a list", func(string) string { return "[]" }, "line 1, column 1"},
		{"unknown key", replace(`"label":`, `"lable":`), `unknown field "lable"`},
		{"wrong type", replace(`"rows":5`, `"rows":"5"`), "rows cannot be a JSON string"},
		{"fraction", replace(`"rows":5`, `"rows":5.5`), "rows cannot be a JSON number 5.5"},
		{"huge total", replace(`"total":10`, `"total":10000000000`), "total is 10000000000 and must be in 1..1073741824"},
		{"beyond int", replace(`"total":10`, `"total":100000000000000000000`), "total cannot be a JSON number 100000000000000000000"},
		{"no classes", replace(`"classes":["x","y"]`, `"classes":[]`), "there must be either classes or numbers"},
		{"both kinds", replace(`"classes":`, `"numbers":[1],"classes":`), "there must be either classes or numbers"},
		{"classes out of order", replace(`["x","y"]`, `["y","x"]`), "not in ascending order"},
		{"doubled class", replace(`["x","y"]`, `["x","x"]`), `both named "x"`},
		{"numbers out of order", replace(`"classes":["x","y"]`, `"numbers":[2,1]`), "numbers 0 and 1 are not in ascending order"},
		{"no ingredients", replace(`"ingredients":["a","b","c"]`, `"ingredients":[]`), "there is no ingredient"},
		{"unnamed ingredient", replace(`"ingredients":["a"`, `"ingredients":[""`), "ingredient 0 has no name"},
		{"feature's ingredient", replace(`{"name":"b","ingredients":[1]}`, `{"name":"b","ingredients":[9]}`), `feature 1 ("b"): ingredient 9 is out of range`},
		{"no rows", replace(`"rows":5`, `"rows":0`), "rows is 0"},
		{"huge rows", replace(`"rows":5`, `"rows":9000000000`), "rows is 9000000000"},
		{"fewer trees", replace(`"options":{"trees":3`, `"options":{"trees":4`), "options say 4 trees and there are 3"},
		{"no trees", func(s string) string { return s[:first-2] + "[]}" }, "there are 0 trees"},
		{"features a split", replace(`"features_per_split":2`, `"features_per_split":5`), "features_per_split is 5 and must be in 1..4"},
		{"smallest leaf", replace(`"smallest_leaf":1`, `"smallest_leaf":0`), "smallest_leaf is 0"},
		{"confusion", replace(`"confusion":[[`, `"confusion":[[1,1],[`), "the confusion matrix has 3 rows for 2 classes"},
		{"confusion's row", replace(`"confusion":[[`, `"confusion":[[1,`), "row 0 of the confusion matrix has 3 columns"},
		{"quality's rows", replace(`"out_of_bag":{"rows":`, `"out_of_bag":{"rows":9`), "out_of_bag has 9"},
		{"importances", replace(`"importances":[`, `"importances":[{"mean":1,"se":1},`), "there are 5 importances for 4 features"},
		{"feature out of range", feature("4"), "tree 0, node 0: feature 4 is out of range, there are 4"},
		{"feature below range", feature("-2"), "tree 0, node 0: feature is -2"},
		{"feature too long", feature("99999999999"), "cannot be a JSON number 99999999999"},
		{"threshold", inTree(func(s *savedTree) { s.Features[0], s.Thresholds[0] = 0, 10 }), `tree 1, node 0: the threshold of "a" is 10 and must be in 0..9`},
		{"negative threshold", inTree(func(s *savedTree) { s.Thresholds[0] = -1 }), "tree 1, node 0: the threshold of"},
		{"flag's threshold", inTree(func(s *savedTree) { s.Features[0], s.Thresholds[0] = 3, 1 }), `the threshold of "a or b" is 1 and must be in 0..0`},
		{"more thresholds", inTree(func(s *savedTree) { s.Thresholds = append(s.Thresholds, 1) }), "tests and"},
		{"fewer leaves", inTree(func(s *savedTree) { s.Leaves = s.Leaves[1:] }), "tree 1: there are"},
		{"no nodes", inTree(func(s *savedTree) { *s = savedTree{} }), "tree 1: the tree is not complete"},
		{"tree goes on", inTree(func(s *savedTree) { s.Features = append(s.Features, -1); s.Leaves = append(s.Leaves, []int32{0, 1}) }), "the tree is complete before this node"},
		{"tree ends early", inTree(func(s *savedTree) {
			s.Features = append([]int32{0}, s.Features...)
			s.Thresholds = append([]int32{0}, s.Thresholds...)
		}), "the tree is not complete: 1 nodes are missing"},
		{"empty leaf", inTree(func(s *savedTree) { s.Leaves[0] = nil }), "the leaf has 0 elements"},
		{"odd leaf", inTree(func(s *savedTree) { s.Leaves[0] = s.Leaves[0][:1] }), "the leaf has 1 elements"},
		{"label out of range", inTree(func(s *savedTree) { s.Leaves[0][0] = 2 }), "label 2 is out of range, there are 2"},
		{"labels out of order", inTree(func(s *savedTree) { s.Leaves[0] = []int32{1, 1, 0, 1} }), "labels of the leaf are not in ascending order"},
		{"doubled label", inTree(func(s *savedTree) { s.Leaves[0] = []int32{1, 1, 1, 1} }), "labels of the leaf are not in ascending order"},
		{"no draws", inTree(func(s *savedTree) { s.Leaves[0][1] = 0 }), "has 0 draws"},
		{"many draws", inTree(func(s *savedTree) { s.Leaves[0][1] = 2147483647 }), "has 2147483647 draws; a tree has 5 in all"},
		{"draws do not sum", inTree(func(s *savedTree) { s.Leaves[len(s.Leaves)-1][1]-- }), "draws"},
	} {
		file := c.damage(good)
		f, err := Read(strings.NewReader(file))
		if err == nil || !strings.Contains(err.Error(), c.want) || f != nil {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
			continue
		}
		kept.CheckText(t, c.name, err.Error())
		var damage *FormatError
		if !errors.As(err, &damage) {
			t.Errorf("%s: %v is no FormatError", c.name, err)
		}
		if strings.Contains(c.want, "node 0") && damage.Node != 0 {
			t.Errorf("%s: %+v", c.name, damage)
		}
	}
}

// TestEveryCut reads every beginning of a file: each is an error, none a panic.
func TestEveryCut(t *testing.T) {
	good := bytes.TrimSpace(smallFile(t))
	for n := range good {
		if _, err := Read(bytes.NewReader(good[:n])); err == nil {
			t.Fatalf("the first %d of %d bytes are read without an error", n, len(good))
		}
	}
}

// unsealed is a file without its checksum, to be sealed anew.
func unsealed(file []byte) []byte {
	return bytes.ReplaceAll(file[:bytes.Index(file, []byte(`,"checksum"`))], []byte("\n"), nil)
}

// TestEveryBit changes every bit of a file: none is read.
func TestEveryBit(t *testing.T) {
	good := smallFile(t)
	for n := range good {
		for bit := range 8 {
			file := bytes.Clone(good)
			if file[n] ^= 1 << bit; n == len(good)-1 {
				continue // the last line feed
			}
			if _, err := Read(bytes.NewReader(file)); err == nil {
				t.Fatalf("byte %d is %q instead of %q, and the file is read", n, file[n], good[n])
			}
		}
	}
}

// TestEveryDigit changes every digit of a file and seals it anew. What can still
// be read must be a forest that scores: its lines are compared with points.
func TestEveryDigit(t *testing.T) {
	good := unsealed(smallFile(t))
	read := 0
	for n, c := range good {
		if c < '0' || c > '9' {
			continue
		}
		for _, to := range []byte("0123579-") {
			file := bytes.Clone(good)
			file[n] = to
			f, err := Read(bytes.NewReader(appendChecksum(file)))
			if err != nil {
				continue
			}
			read++
			s := mustScore(t, f, AnyOf("x"))
			scorer := s.NewScorer()
			x := []int32{3, 4, 3}
			scorer.Reset(x, []int32{2, 0, 1})
			for i := range x {
				j := (i + 1) % 3
				wantStarts, wantSums := lineByPoints(s, x, i, j)
				starts, sums := scorer.Line(i, j)
				if !slices.Equal(starts, wantStarts) || !slices.Equal(sums, wantSums) {
					t.Fatalf("byte %d as %q: line (%d, %d) is %v %v, want %v %v", n, to, i, j, starts, sums, wantStarts, wantSums)
				}
			}
		}
	}
	if read == 0 {
		t.Error("no changed file can be read: the test sees too little")
	}
}

// A brokenPipe fails after some bytes.
type brokenPipe struct{ left int }

var errBroken = errors.New("broken pipe")

func (p *brokenPipe) Write(b []byte) (int, error) {
	if p.left -= len(b); p.left < 0 {
		return 0, errBroken
	}
	return len(b), nil
}

func (p *brokenPipe) Read(b []byte) (int, error) { return 0, errBroken }

func TestInputAndOutputErrors(t *testing.T) {
	f := mustGrow(t, cocktailBook.data(), Options{Trees: 10})
	size := len(saved(t, f))
	for _, left := range []int{0, 100, size / 2, size - 1} {
		if err := f.Write(&brokenPipe{left}); !errors.Is(err, errBroken) {
			t.Errorf("writing to a pipe that breaks after %d bytes: error %v", left, err)
		}
	}
	if _, err := Read(&brokenPipe{}); !errors.Is(err, errBroken) {
		t.Errorf("reading from a broken pipe: error %v", err)
	}
}

// FuzzRead reads anything, with the checksum that it should have. What can be read can
// also be scored, and reads the same once it is saved.
func FuzzRead(f *testing.F) {
	f.Add(unsealed(smallFile(f)))
	d := growingBooks["numbers"].data()
	f.Add(unsealed(saved(f, mustGrow(f, d, Options{Trees: 2}))))
	f.Fuzz(func(t *testing.T, file []byte) {
		forest, err := Read(bytes.NewReader(appendChecksum(bytes.ReplaceAll(file, []byte("\n"), nil))))
		if err != nil {
			return
		}
		again, err := Read(bytes.NewReader(saved(t, forest)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(saved(t, forest), saved(t, again)) {
			t.Fatal("saved twice, the forest differs")
		}
		w := AtLeast(0)
		if !forest.Numeric() {
			w = AnyOf(forest.Classes()[0])
		}
		s := mustScore(t, forest, w)
		scorer := s.NewScorer()
		n := len(forest.Ingredients())
		x := make([]int32, n)
		random := rand.New(rand.NewPCG(1, 1))
		for range 20 {
			if n < 2 {
				break
			}
			clear(x)
			for left := int32(forest.Total()); left > 0; {
				k := 1 + random.Int32N(left)
				x[random.IntN(n)] += k
				left -= k
			}
			scorer.Reset(x, usedIngredients(x))
			if got, want := scorer.Value(), s.Point(x); got != want || want < 0 || want > s.SumForCertainty() {
				t.Fatalf("value %d, point %d, one %d", got, want, s.SumForCertainty())
			}
			i := random.IntN(n)
			j := (i + 1 + random.IntN(n-1)) % n
			total := x[i] + x[j]
			starts, sums := scorer.Line(i, j)
			for _, k := range []int32{0, total / 2, total} {
				x[i], x[j] = k, total-k
				if got, want := sums[pieceOf(starts, k)], s.Point(x); got != want {
					t.Fatalf("on the line %d, point %d", got, want)
				}
			}
		}
	})
}
