package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"kir/internal/browsersched"
	"slices"
)

// partName returns the name of a file of draws, such as draws/chain=0002/part-00001.parquet for
// part 1 of chain 2.
func partName(chain, part int) string {
	return fmt.Sprintf("%spart-%05d.parquet", chainPrefix(chain), part)
}

// chainPrefix returns the beginning of the names of all files of draws of a chain.
func chainPrefix(chain int) string { return fmt.Sprintf("draws/chain=%04d/", chain) }

// listParts lists the stored files of draws whose names begin with a prefix. The result maps the
// number of a chain to the chain's files, in order.
func listParts(ctx context.Context, store Store, prefix string) (map[int][]File, error) {
	files, err := store.List(ctx, prefix)
	if err != nil {
		return nil, err
	}
	parts := make(map[int][]File)
	for _, f := range files {
		var chain, part int
		if _, err := fmt.Sscanf(f.Name, "draws/chain=%d/part-%d.parquet", &chain, &part); err == nil && f.Name == partName(chain, part) {
			parts[chain] = append(parts[chain], f)
		}
	}
	for _, list := range parts {
		// From 100,000 parts on, names are longer.
		slices.SortStableFunc(list, func(a, b File) int { return len(a.Name) - len(b.Name) })
	}
	return parts, nil
}

// checkPartOrder returns an error if one of a chain's files of draws is missing before another one.
// The error names the first missing file.
func checkPartOrder(chain int, files []File) error {
	for k, f := range files {
		if want := partName(chain, k); f.Name != want {
			return fmt.Errorf("%w: %s is there and %s is not: remove the former, and what follows it, and kir resume makes them again", ErrDamaged, f.Name, want)
		}
	}
	return nil
}

// readChain reads the draws of a chain from its files. It calls visit for the draws 0, stride,
// 2·stride, ..., in order, until visit returns false. It returns descriptions of the files that
// were read.
func readChain(ctx context.Context, store Store, m *Manifest, files []File, chain int, resolve func(string) (int32, error), stride int, visit func(d *Draw) bool) ([]PartFile, error) {
	if err := checkPartOrder(chain, files); err != nil {
		return nil, err
	}
	var parts []PartFile
	d := &Draw{Chain: chain, Scores: make([]float64, len(m.Properties))}
	var b rowGroupData
	next, more := 0, true
	for _, f := range files {
		if err := browsersched.Err(ctx); err != nil {
			return nil, err
		}
		data, err := ReadWhole(ctx, store, f.Name, newPartBounds(m).maxFileBytes)
		if err != nil {
			return nil, fmt.Errorf("the draws of chain %d: %w", chain, err)
		}
		parts = append(parts, newPartFile(f.Name, data))
		r, err := openPart(bytes.NewReader(data), int64(len(data)), m, chain)
		if err == nil {
			r.ingredientIndex = resolve
			var n int
			n, more, err = r.visitDraws(data, &b, d, m.Properties, next, func(draw int) bool { return draw%stride == 0 }, visit)
			next += n
		}
		if errors.Is(err, ErrDamaged) {
			return nil, newDamagedPartError(store, f.Name, err)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", store.Path(f.Name), err)
		}
		if !more {
			return parts, nil
		}
	}
	if next != m.Settings.Draws {
		return nil, fmt.Errorf("%s: %w: there are %d draws and should be %d", store.Path(chainPrefix(chain)), ErrDamaged, next, m.Settings.Draws)
	}
	return parts, nil
}

// readDrawCount returns the number of draws in a file of draws, read from the footer of the file.
func readDrawCount(ctx context.Context, store Store, f File, m *Manifest, chain int) (int, error) {
	r, err := openPart(&rangeReader{ctx, store, f.Name}, f.Size, m, chain)
	if err != nil {
		return 0, err
	}
	return int(r.file.NumRows()), nil
}

// rangeReader reads byte ranges of a file in a store.
type rangeReader struct {
	ctx   context.Context
	store Store
	name  string
}

func (f *rangeReader) ReadAt(b []byte, offset int64) (int, error) {
	data, err := f.store.Read(f.ctx, f.name, offset, int64(len(b)))
	n := copy(b, data)
	if err == nil && n < len(b) {
		err = fmt.Errorf("%s ends early", f.name)
	}
	return n, err
}
