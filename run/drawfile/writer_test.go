package drawfile

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// A script makes a sequence of calls of a Writer, as a chain of random moves
// would, together with the rows that must come out.
type script struct {
	schema Schema
	rand   *rand.Rand
	rows   []Row
	now    Draw
	churn  float64 // share of the places that change from draw to draw; above 1: all, and no draw is repeated
	moody  bool    // churn changes with the pages
	most   int     // of the ingredients in a draw
}

func newScript(seed uint64, ingredients, total, properties, most int, churn float64) *script {
	s := &script{
		schema: Schema{Chain: int32(seed % 7), Total: total},
		rand:   rand.New(rand.NewPCG(seed, 1)),
		churn:  churn,
		most:   most,
	}
	for i := range ingredients {
		s.schema.Ingredients = append(s.schema.Ingredients, fmt.Sprintf("ingrédient %d", i))
	}
	for k := range properties {
		s.schema.Properties = append(s.schema.Properties, fmt.Sprintf("property %d", k))
	}
	s.now.Scores = make([]float64, properties)
	return s
}

// step makes the next few calls.
func (s *script) step(w *Writer) error {
	r, n := s.rand, len(s.now.Ingredients)
	if s.moody {
		s.churn = []float64{0, 2, 1, 0.1}[len(s.rows)/20_000%4]
	}
	ingredient := func() int32 { return r.Int32N(int32(len(s.schema.Ingredients))) }
	amount := func() int32 { return 1 + r.Int32N(int32(s.schema.Total)) }
	if s.churn > 1 {
		s.now.Ingredients, s.now.Amounts = s.now.Ingredients[:0], s.now.Amounts[:0]
		for range 1 + r.IntN(s.most) {
			s.now.Ingredients, s.now.Amounts = append(s.now.Ingredients, ingredient()), append(s.now.Amounts, amount())
		}
		s.now.LogDensity = float64(r.IntN(30))
		s.record(1)
		return w.WriteNew(&s.now)
	}
	switch {
	case n > 0 && r.IntN(3) == 0:
		place, i := r.IntN(n), ingredient()
		was := s.now.Ingredients[place]
		s.now.Ingredients[place] = i
		before := r.IntN(3) * r.IntN(3)
		now := s.now
		s.now.Ingredients = slices.Clone(now.Ingredients)
		s.now.Ingredients[place] = was
		s.record(before)
		s.now = now
		s.record(1)
		if err := w.Replace(before, place, i); err != nil {
			return err
		}
	default:
		if n == 0 || r.Float64() < s.churn {
			n = 1 + r.IntN(s.most)
		}
		both := min(n, len(s.now.Ingredients))
		s.now.Ingredients, s.now.Amounts = s.now.Ingredients[:both], s.now.Amounts[:both]
		var changed []int32
		for p := range both {
			if r.Float64() < s.churn {
				changed = append(changed, int32(p)) // which may not be so
				if r.IntN(2) == 0 {
					s.now.Ingredients[p] = ingredient()
				}
				if r.IntN(2) == 0 {
					s.now.Amounts[p] = amount()
				}
			}
		}
		for range n - both {
			s.now.Ingredients, s.now.Amounts = append(s.now.Ingredients, ingredient()), append(s.now.Amounts, amount())
		}
		if r.IntN(2) == 0 {
			s.now.LogDensity = -float64(r.IntN(3))
		}
		for k := range s.now.Scores {
			if r.IntN(3) == 0 {
				s.now.Scores[k] = r.Float64()
			}
		}
		s.record(1)
		if err := w.Write(&s.now, changed); err != nil {
			return err
		}
	}
	repeats := r.IntN(4)
	if r.IntN(500) == 0 {
		repeats = r.IntN(3 * pageRows)
	}
	s.record(repeats)
	return w.Repeat(repeats)
}

func (s *script) record(n int) {
	d := Draw{s.now.LogDensity, slices.Clone(s.now.Scores), slices.Clone(s.now.Ingredients), slices.Clone(s.now.Amounts)}
	for range n {
		s.rows = append(s.rows, Row{Chain: s.schema.Chain, Number: int64(len(s.rows)), Draw: d})
	}
}

// scripts cover every width of an entry, dictionaries of all entries and of those
// met, plain amounts, both forms of a page, and pages that end for their size.
func scripts() map[string]*script {
	return map[string]*script{
		"cocktails":   newScript(1, 63, 1000, 2, 5, 0.3),
		"large":       newScript(2, 2000, 100, 0, 24, 0.02),
		"independent": newScript(3, 300, 70_000, 1, 30, 1),
		"crowd":       newScript(4, 70_000, 1<<20, 1, 20_000, 0.01),
		"single":      newScript(5, 1, 1, 0, 1, 0.5),
		"crammed":     newScript(6, 16, 15, 0, 200, 2),
		"strangers":   newScript(7, 70_000, 60_000, 0, 300, 2),
		"moody":       moody(),
	}
}

// moody is a script of pages that suit either form, in turn.
func moody() *script {
	s := newScript(8, 2000, 5000, 1, 24, 0)
	s.moody = true
	return s
}

// write runs a script up to about so many rows.
func (s *script) write(t testing.TB, out io.Writer, rows int) *Writer {
	t.Helper()
	w, err := NewWriter(out, s.schema)
	if err != nil {
		t.Fatal(err)
	}
	for len(s.rows) < rows {
		if err := s.step(w); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// rowsFor is enough for several pages, and row groups in some of the scripts.
func rowsFor(s *script) int {
	switch {
	case s.most > 1000:
		return 600
	case s.most > 100:
		return 12_000
	case s.moody:
		return 160_000
	}
	return 40_000
}

func index(s Schema) func(string) (int32, error) {
	m := make(map[string]int32)
	for i, name := range s.Ingredients {
		m[name] = int32(i)
	}
	return func(name string) (int32, error) {
		i, ok := m[name]
		if !ok {
			return 0, fmt.Errorf("%q is no ingredient", name)
		}
		return i, nil
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	for name, s := range scripts() {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "draws.parquet")
			f, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			w := s.write(t, f, rowsFor(s))
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			r, err := OpenReader(path, index(s.schema))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if r.Draws() != int64(len(s.rows)) || !slices.Equal(r.Properties(), s.schema.Properties) {
				t.Fatalf("%d draws with properties %q, want %d with %q", r.Draws(), r.Properties(), len(s.rows), s.schema.Properties)
			}
			n := 0
			for row, err := range r.All() {
				if err != nil {
					t.Fatal(err)
				}
				if !equalRows(row, &s.rows[n]) {
					t.Fatalf("row %d is %v, want %v", n, row, &s.rows[n])
				}
				n++
			}
			if n != len(s.rows) {
				t.Fatalf("%d rows, want %d", n, len(s.rows))
			}
			for _, stride := range []int{2, 7, 10_000} {
				n = 0
				for row, err := range r.Every(stride) {
					if err != nil {
						t.Fatal(err)
					}
					if !equalRows(row, &s.rows[n]) {
						t.Fatalf("row %d is %v, want %v", n, row, &s.rows[n])
					}
					n += stride
				}
				if n < len(s.rows) {
					t.Fatalf("with a stride of %d, the last row is %d", stride, n-stride)
				}
			}
		})
	}
}

func equalRows(a, b *Row) bool {
	return a.Chain == b.Chain && a.Number == b.Number && a.LogDensity == b.LogDensity && slices.Equal(a.Scores, b.Scores) &&
		slices.Equal(a.Ingredients, b.Ingredients) && slices.Equal(a.Amounts, b.Amounts)
}

// The generic reader of parquet-go knows nothing of how kir writes, and finds
// the same by way of names and types.
func TestAnotherReader(t *testing.T) {
	type record struct {
		Chain      int32    `parquet:"chain"`
		Draw       int64    `parquet:"draw"`
		LogDensity float64  `parquet:"log_density"`
		Used       int32    `parquet:"used"`
		A          float64  `parquet:"property 0"`
		B          float64  `parquet:"property 1"`
		Ingredient []string `parquet:"ingredient,list"`
		Amount     []int32  `parquet:"amount,list"`
	}
	s := scripts()["cocktails"]
	var b bytes.Buffer
	if err := s.write(t, &b, 30_000).Close(); err != nil {
		t.Fatal(err)
	}
	got, err := parquet.Read[record](bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(s.rows) {
		t.Fatalf("%d rows, want %d", len(got), len(s.rows))
	}
	for k, g := range got {
		row := &s.rows[k]
		want := record{Chain: row.Chain, Draw: row.Number, LogDensity: row.LogDensity, Used: int32(len(row.Amounts)), A: row.Scores[0], B: row.Scores[1], Amount: row.Amounts}
		for _, i := range row.Ingredients {
			want.Ingredient = append(want.Ingredient, s.schema.Ingredients[i])
		}
		if !reflect.DeepEqual(g, want) {
			t.Fatalf("row %d is %v, want %v", k, g, want)
		}
	}
}

// The bounds in the footer must hold the values, or readers skip what they look
// for.
func TestBounds(t *testing.T) {
	s := scripts()["cocktails"]
	var b bytes.Buffer
	w := s.write(t, &b, 300_000) // more than a row group
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	groups := f.RowGroups()
	if len(groups) < 2 {
		t.Fatalf("%d row groups: the test needs two", len(groups))
	}
	first := 0
	for g, group := range groups {
		rows := s.rows[first : first+int(group.NumRows())]
		first += len(rows)
		bounds := func(column int, of func(*Row) float64) {
			least, most := math.Inf(1), math.Inf(-1)
			for k := range rows {
				least, most = min(least, of(&rows[k])), max(most, of(&rows[k]))
			}
			lo, hi, ok := group.ColumnChunks()[column].(*parquet.FileColumnChunk).Bounds()
			number := func(v parquet.Value) float64 {
				switch v.Kind() {
				case parquet.Int32:
					return float64(v.Int32())
				case parquet.Int64:
					return float64(v.Int64())
				}
				return v.Double()
			}
			if !ok || number(lo) != least || number(hi) != most {
				t.Errorf("row group %d, column %d: bounds %v to %v (%t), want %v to %v", g, column, lo, hi, ok, least, most)
			}
		}
		bounds(0, func(r *Row) float64 { return float64(r.Chain) })
		bounds(1, func(r *Row) float64 { return float64(r.Number) })
		bounds(2, func(r *Row) float64 { return r.LogDensity })
		bounds(3, func(r *Row) float64 { return float64(len(r.Amounts)) })
		bounds(4, func(r *Row) float64 { return r.Scores[0] })
	}
}

// A Writer that is restored between any two draws writes what the first would
// have.
func TestRestoredWriter(t *testing.T) {
	for name := range scripts() {
		t.Run(name, func(t *testing.T) {
			var want bytes.Buffer
			s := scripts()[name]
			rows := rowsFor(s)
			if err := s.write(t, &want, rows).Close(); err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			s = scripts()[name]
			w, err := NewWriter(&got, s.schema)
			if err != nil {
				t.Fatal(err)
			}
			stops := rand.New(rand.NewPCG(9, 9))
			for next := 0; len(s.rows) < rows; {
				if len(s.rows) >= next {
					next += stops.IntN(rows / 10)
					state, err := w.MarshalBinary()
					if err != nil {
						t.Fatal(err)
					}
					if w.Offset() != int64(got.Len()) {
						t.Fatalf("the offset is %d after %d bytes", w.Offset(), got.Len())
					}
					if w, err = RestoreWriter(&got, s.schema, state); err != nil {
						t.Fatal(err)
					}
				}
				if err := s.step(w); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want.Bytes()) {
				t.Fatal("the bytes differ")
			}
		})
	}
}

// A state that was tampered with is refused or harmless, but never a panic.
func TestDamagedState(t *testing.T) {
	for name, s := range map[string]*script{
		"changes": newScript(1, 20, 50, 1, 4, 0.3),
		"whole":   newScript(2, 300, 5000, 1, 4, 2),
	} {
		t.Run(name, func(t *testing.T) {
			rows := 100
			if name == "whole" {
				rows += pageRows
			}
			w := s.write(t, io.Discard, rows)
			if w.Ingredient.Whole != (name == "whole") {
				t.Fatal("the page has the other form")
			}
			for _, c := range w.chunks() {
				c.Pages = nil // for speed
			}
			state, err := w.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			for k := 0; k < len(state); k += 1 + len(state)/3000 {
				bad := slices.Clone(state)
				bad[k] ^= 1 << (k % 8)
				if w, err := RestoreWriter(io.Discard, s.schema, bad); err == nil {
					s := newScript(uint64(k), len(s.schema.Ingredients), 50, 1, 4, 0.3)
					s.now.Ingredients, s.now.Amounts = slices.Clone(w.Ingredient.Entries), slices.Clone(w.Amount.Entries)
					for err == nil && len(s.rows) < 50 {
						err = s.step(w)
					}
					w.Close()
				}
				if _, err := RestoreWriter(io.Discard, s.schema, state[:k]); err == nil {
					t.Errorf("a state of %d of %d bytes was accepted", k, len(state))
				}
			}
		})
	}
}

// A page of whole rows follows one that changed in most places, and a page of
// changes one that did not.
func TestFormOfAPage(t *testing.T) {
	s := newScript(1, 2000, 100, 0, 24, 0)
	w := s.write(t, io.Discard, 1)
	for _, c := range []struct {
		churn float64
		whole bool
	}{{0, false}, {2, true}, {2, true}, {0.01, false}, {2, true}} {
		s.churn = c.churn
		for written := w.Written + 3*pageRows; w.Written < written; {
			if err := s.step(w); err != nil {
				t.Fatal(err)
			}
		}
		if w.Ingredient.Whole != c.whole || w.Amount.Whole != c.whole {
			t.Fatalf("after a page of churn %v, the next one is of whole ingredients (%t) and amounts (%t)", c.churn, w.Ingredient.Whole, w.Amount.Whole)
		}
	}
}

func TestReservedNames(t *testing.T) {
	for _, name := range Reserved() {
		if _, err := NewWriter(io.Discard, Schema{Total: 1, Ingredients: []string{"a"}, Properties: []string{name}}); err == nil {
			t.Errorf("a property named %q was accepted", name)
		}
	}
	if _, err := NewWriter(io.Discard, Schema{Total: 1, Ingredients: []string{"a"}, Properties: []string{"x", "x"}}); err == nil {
		t.Error("two properties of one name were accepted")
	}
}

// failing fails after so many bytes.
type failing struct{ left int }

func (f *failing) Write(b []byte) (int, error) {
	if len(b) > f.left {
		n := f.left
		f.left = 0
		return n, io.ErrShortWrite
	}
	f.left -= len(b)
	return len(b), nil
}

func TestFailingFile(t *testing.T) {
	var whole bytes.Buffer
	s := newScript(1, 2000, 100, 1, 20, 0.5)
	if err := s.write(t, &whole, 20_000).Close(); err != nil {
		t.Fatal(err)
	}
	for left := 0; left < whole.Len(); left += 1 + whole.Len()/97 {
		s := newScript(1, 2000, 100, 1, 20, 0.5)
		w, err := NewWriter(&failing{left}, s.schema)
		for err == nil && len(s.rows) < 20_000 {
			err = s.step(w)
		}
		if err == nil {
			err = w.Close()
		}
		if err != io.ErrShortWrite {
			t.Fatalf("after %d of %d bytes: error %v", left, whole.Len(), err)
		}
	}
}
