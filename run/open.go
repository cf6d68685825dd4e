package run

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"sync"

	"kir"
	"kir/run/drawfile"
)

// A Run is a run in its directory, to be looked at.
type Run struct {
	Dir      string
	Manifest *Manifest

	directory *directory
	index     func() map[string]int32 // of the ingredients, unless they are counted
}

// Open opens the run in a directory, finished or not. A directory that holds
// none is a [NotRunError].
func Open(dir string) (*Run, error) {
	d := &directory{path: dir, open: openFile}
	m, err := readManifest(d)
	if err != nil {
		return nil, err
	}
	index := sync.OnceValue(func() map[string]int32 {
		index := make(map[string]int32, len(m.Ingredients))
		for i, name := range m.Ingredients {
			index[name] = int32(i)
		}
		return index
	})
	return &Run{Dir: dir, Manifest: m, directory: d, index: index}, nil
}

// Complete says whether the run has all its draws.
func (r *Run) Complete() bool { return r.Manifest.Status == Complete }

// Problem returns the problem as it was resolved: problem.yaml.
func (r *Run) Problem() ([]byte, error) { return os.ReadFile(r.directory.join(problemName)) }

// Result returns what the run amounts to. It fails with an [UnfinishedError] if
// the run is not complete.
func (r *Run) Result() (*Result, error) {
	if !r.Complete() {
		return nil, &UnfinishedError{Dir: r.Dir}
	}
	result := new(Result)
	if err := unseal(r.directory.join(resultName), resultKind, result); err != nil {
		return nil, err
	}
	return result, nil
}

// Files returns the paths of the files of draws, by chain.
func (r *Run) Files() []string {
	var files []string
	for chain := range r.Manifest.Settings.Chains {
		files = append(files, r.directory.join(drawsName(chain)))
	}
	return files
}

// A Draw is one draw of a run.
type Draw struct {
	Chain, Draw int
	LogDensity  float64
	Scores      []float64  // by property, in the manifest's order
	Parts       []kir.Part // by ingredient, which the manifest names
}

// Draws returns the draws of all chains, one chain after the other. See
// [Run.Chain].
func (r *Run) Draws() iter.Seq2[*Draw, error] {
	return func(yield func(*Draw, error) bool) {
		for chain := range r.Manifest.Settings.Chains {
			for d, err := range r.Chain(chain) {
				if !yield(d, err) || err != nil {
					return
				}
			}
		}
	}
}

// Chain returns the draws of a chain in their order, in memory that does not
// grow with their number. What a Draw refers to is valid until the next one. The
// sequence ends with the first error: an [UnfinishedError] if the run is not
// complete, one that is [drawfile.ErrDamaged] if the file is not as it was
// written.
//
// Several chains may be read at once.
func (r *Run) Chain(chain int) iter.Seq2[*Draw, error] { return r.Every(chain, 1) }

// Every returns the draws 0, stride, 2·stride, ... of a chain, as Chain does. The
// whole file is read all the same, but of the other draws only the numbers and
// the lengths are checked.
func (r *Run) Every(chain, stride int) iter.Seq2[*Draw, error] {
	return func(yield func(*Draw, error) bool) {
		if err := r.readChain(chain, stride, func(d *Draw) bool { return yield(d, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

// readChain visits every stride-th draw of a chain until visit returns false.
func (r *Run) readChain(chain, stride int, visit func(d *Draw) bool) (err error) {
	if !r.Complete() {
		return &UnfinishedError{Dir: r.Dir}
	}
	path := r.directory.join(drawsName(chain))
	damaged := func(format string, args ...any) error {
		return fmt.Errorf("%s: %w: %s", path, drawfile.ErrDamaged, fmt.Sprintf(format, args...))
	}
	file, err := drawfile.OpenReader(path, r.resolver())
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the draws of chain %d are missing: %w", chain, err)
	}
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, file.Close()) }()
	m := r.Manifest
	if !slices.Equal(file.Properties(), m.Properties) {
		return damaged("its properties are not those of the run")
	}
	if file.Draws() != int64(m.Settings.Draws) {
		return damaged("it has %d draws and should have %d", file.Draws(), m.Settings.Draws)
	}
	next := 0
	d := new(Draw)
	var order []uint64
	for row, err := range file.Every(stride) {
		if err != nil {
			return err
		}
		if int(row.Chain) != chain || row.Number != int64(next) {
			return damaged("draw %d of chain %d stands where draw %d of chain %d should", row.Number, row.Chain, next, chain)
		}
		next += stride
		d.Chain, d.Draw, d.LogDensity, d.Scores = chain, int(row.Number), row.LogDensity, row.Scores
		// Sorting numbers is faster than sorting parts.
		order = order[:0]
		for k, i := range row.Ingredients {
			order = append(order, uint64(i)<<32|uint64(uint32(row.Amounts[k])))
		}
		slices.Sort(order)
		d.Parts = d.Parts[:0]
		for _, o := range order {
			d.Parts = append(d.Parts, kir.Part{Ingredient: int(o >> 32), Amount: int(int32(o))})
		}
		if !visit(d) {
			return nil
		}
	}
	return nil
}

// resolver returns a function that finds ingredients by name.
func (r *Run) resolver() func(name string) (int32, error) {
	find := func(name string) int32 { return r.Manifest.Counted.find(name) }
	if r.Manifest.Counted == nil {
		index := r.index()
		find = func(name string) int32 {
			if i, ok := index[name]; ok {
				return i
			}
			return -1
		}
	}
	return func(name string) (int32, error) {
		i := find(name)
		if i < 0 {
			return 0, fmt.Errorf("%q is no ingredient of the run", name)
		}
		return i, nil
	}
}
