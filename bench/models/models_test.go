package models

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kir/internal/ensemble"
	"kir/internal/ensemble/lightgbm"
	"kir/internal/ensemble/onnx"
	"kir/internal/ensemble/xgboost"
)

// A manifest is what make.py says of the models it made.
type manifest struct {
	Points, Columns, Total int
	Models                 []struct {
		Name, Inputs, File, Output string
		Width                      int
		Tolerance                  float64 // in units of the last place
		Wide                       bool    // the predictions are float64, else float32
	}
}

// recorded are small models and what those who made them predict, which kir's own tests
// read too.
const recorded = "../../internal/ensemble/testdata"

// TestModels compares models with what those who made them predict: small ones at 50
// points each, which are recorded here, or those in the directory KIR_MODELS, of all
// sizes and at 100,000; see make.py.
func TestModels(t *testing.T) {
	dir := os.Getenv("KIR_MODELS")
	if dir == "" {
		dir = recorded
	}
	data, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all manifest
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	shares, raw := make([]int32, all.Points*all.Columns), make([]float32, all.Points*all.Columns)
	read(t, filepath.Join(dir, "shares.i32"), shares)
	read(t, filepath.Join(dir, "raw.f32"), raw)
	for _, c := range all.Models {
		t.Run(c.Name, func(t *testing.T) {
			m := load(t, filepath.Join(dir, c.File))
			want := predictions(t, filepath.Join(dir, c.Name+".out"), all.Points*c.Width, c.Wide)
			of, width := output(m, c.Output)
			if width != c.Width {
				t.Fatalf("the output has %d numbers, and should have %d", width, c.Width)
			}
			var s *ensemble.Score
			if c.Inputs == "shares" {
				s = shared(t, m, all.Total)
				checkLines(t, s, shares[:min(len(shares), 100*all.Columns)], all.Columns)
			}
			worst, different := 0.0, 0
			inputs := make([]float64, all.Columns)
			for p := range all.Points {
				var sums []float64
				if s != nil {
					sums = s.Sums(shares[p*all.Columns:][:all.Columns])
				} else {
					for k := range inputs {
						inputs[k] = float64(raw[p*all.Columns+k])
					}
					sums = m.Sums(inputs)
				}
				for k := range c.Width {
					got, want := of(sums, k), want[p*c.Width+k]
					if d := units(got, want, c.Wide); d != 0 {
						different++
						if d > worst {
							worst = d
							if d > c.Tolerance {
								t.Logf("point %d, number %d: %v, and should be %v", p, k, got, want)
							}
						}
					}
				}
			}
			if worst > c.Tolerance {
				t.Errorf("%d numbers differ, by up to %v units in the last place", different, worst)
			} else if testing.Verbose() {
				t.Logf("%d trees, %d points: %d numbers differ, by up to %v units in the last place", m.Trees(), all.Points, different, worst)
			}
		})
	}
}

// checkLines holds lines through compositions to the points on them, bit for bit.
func checkLines(t *testing.T, s *ensemble.Score, shares []int32, columns int) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	c := s.NewScorer()
	for x := range slices.Chunk(shares, columns) {
		var used []int32
		for i, v := range x {
			if v > 0 {
				used = append(used, int32(i))
			}
		}
		c.Reset(x, used)
		i := int(used[r.IntN(len(used))])
		j := (i + 1 + r.IntN(columns-1)) % columns
		starts, lines := c.Line(i, j)
		y := slices.Clone(x)
		sum := x[i] + x[j]
		for p, start := range starts {
			end := sum
			if p+1 < len(starts) {
				end = starts[p+1] - 1
			}
			for _, k := range []int32{start, end, start + r.Int32N(end-start+1)} {
				y[i], y[j] = k, sum-k
				for g, v := range s.Sums(y) {
					if lines[g][p] != v {
						t.Fatalf("line (%d, %d) of %v at %d: %v, and the point's sum is %v", i, j, x, k, lines[g][p], v)
					}
				}
			}
		}
	}
}

// TestDamaged cuts and overwrites recorded models: what is cut is refused, or read as
// the same if nothing was lost that matters, and nothing else can go wrong.
func TestDamaged(t *testing.T) {
	paths, err := filepath.Glob(recorded + "/*.[uoj]*")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../../internal/ensemble/lightgbm/testdata/*.model")
	if err != nil || len(more) == 0 {
		t.Fatal(err)
	}
	for range 10 {
		paths = append(paths, more...)
	}
	paths = slices.DeleteFunc(paths, func(p string) bool { return strings.HasSuffix(p, ".out") || strings.HasSuffix(p, "manifest.json") })
	r := rand.New(rand.NewPCG(3, 4))
	refused, equal, other := 0, 0, 0
	for k := range 2000 {
		path := paths[k%len(paths)]
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		cut := k%2 == 0
		if cut {
			data = data[:r.IntN(len(data))]
		} else {
			for range 1 + r.IntN(20) {
				data[r.IntN(len(data))] = byte(r.IntN(256))
			}
		}
		m, err := parse(path, data)
		if err != nil {
			refused++
			continue
		}
		whole := load(t, path)
		inputs := make([]float64, max(len(m.Inputs), len(whole.Inputs)))
		same := m.Trees() == whole.Trees() && len(m.Outputs) == len(whole.Outputs)
		for range 20 {
			for q := range inputs {
				inputs[q] = r.NormFloat64()
			}
			same = same && slices.Equal(m.Sums(inputs), whole.Sums(inputs))
		}
		switch {
		case same:
			equal++
		case cut:
			t.Errorf("%s, of which %d bytes are left, is another model", path, len(data))
		default:
			other++ // a number was overwritten, which nothing tells
		}
	}
	t.Logf("of 1,000 files that were cut and 1,000 that were overwritten %d are refused, %d read equal, and %d of those overwritten are other models", refused, equal, other)
}

// predictions reads recorded ones.
func predictions(t *testing.T, path string, n int, wide bool) []float64 {
	t.Helper()
	all := make([]float64, n)
	if wide {
		read(t, path, all)
		return all
	}
	single := make([]float32, n)
	read(t, path, single)
	for k, v := range single {
		all[k] = float64(v)
	}
	return all
}

// units returns how many units in the last place of float64, or float32, two numbers
// are apart, the first of which is rounded to that.
func units(got, want float64, wide bool) float64 {
	single := float32(got)
	if !wide {
		got = float64(single)
	}
	if got == want || got != got && want != want {
		return 0
	}
	size := max(math.Abs(got), math.Abs(want))
	if wide {
		return math.Abs(got-want) / (math.Nextafter(size, math.Inf(1)) - size)
	}
	return math.Abs(got-want) / float64(math.Nextafter32(float32(size), float32(math.Inf(1)))-float32(size))
}

// output returns the numbers of an output of that name, or of the first one.
func output(m *ensemble.Model, name string) (of func(sums []float64, k int) float64, width int) {
	var all []ensemble.Output
	for _, o := range m.Outputs {
		if name == "" || o.Name == name || strings.HasPrefix(o.Name, name+" ") {
			all = append(all, o)
		}
	}
	if name == "" {
		all = all[:1]
	}
	if len(all) == 1 {
		if o := all[0]; name == "" && !strings.HasPrefix(m.Producer, "ONNX") && len(o.Classes) == 2 {
			return func(sums []float64, _ int) float64 { return o.Compute(sums, 1) }, 1
		}
		return all[0].Compute, max(len(all[0].Classes), 1)
	}
	return func(sums []float64, k int) float64 { return all[k].Compute(sums, 0) }, len(all)
}

func load(t testing.TB, path string) *ensemble.Model {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := parse(path, data)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func parse(path string, data []byte) (*ensemble.Model, error) {
	switch filepath.Ext(path) {
	case ".onnx":
		return onnx.Read(bytes.NewReader(data))
	case ".model", ".txt":
		return lightgbm.Read(bytes.NewReader(data))
	}
	return xgboost.Read(bytes.NewReader(data))
}

func read(t *testing.T, path string, to any) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := binary.Read(f, binary.LittleEndian, to); err != nil {
		t.Fatal(err)
	}
}
