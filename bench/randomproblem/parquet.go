package randomproblem

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/parquet-go/parquet-go"
)

// A stored is a draw as it stands in a file, by the columns of docs/draws.md.
type stored struct {
	chain, draw int
	logDensity  float64
	used        int
	scores      []float64
	x           []int
}

// readChain reads the draws of a chain of a run from the parts that it is stored
// in. Which chain it is their directory says.
func (p *Problem) readChain(run string, chain int) (draws []stored, err error) {
	parts, err := filepath.Glob(filepath.Join(run, "draws", fmt.Sprintf("chain=%04d", chain), "part-*.parquet"))
	if err != nil {
		return nil, err
	}
	for _, path := range parts { // in alphabetical order, which is theirs
		part, err := p.readDraws(path)
		if err != nil {
			return nil, err
		}
		for k := range part {
			part[k].chain = chain
		}
		draws = append(draws, part...)
	}
	return draws, nil
}

// readDraws reads the draws of a file with a reader that is not kir's.
func (p *Problem) readDraws(path string) (draws []stored, err error) {
	index := map[string]int{}
	for i, name := range p.Names {
		index[name] = i
	}
	wish := map[string]int{}
	for k, w := range p.Wishes {
		wish[w.Name] = k
	}
	err = eachRow(path, func(columns [][]string, row parquet.Row) error {
		d := stored{scores: make([]float64, len(p.Wishes)), x: make([]int, len(p.Names))}
		var names []string
		var amounts []int
		for _, v := range row {
			switch name := columns[v.Column()][0]; name {
			case "draw":
				d.draw = int(v.Int64())
			case "log_density":
				d.logDensity = v.Double()
			case "used":
				d.used = int(v.Int32())
			case "ingredient":
				names = append(names, string(v.ByteArray()))
			case "amount":
				amounts = append(amounts, int(v.Int32()))
			default:
				k, ok := wish[name]
				if !ok {
					return fmt.Errorf("%s has a column %q", path, name)
				}
				d.scores[k] = v.Double()
			}
		}
		if len(names) != len(amounts) {
			return fmt.Errorf("%s: draw %d has %d ingredients and %d amounts", path, d.draw, len(names), len(amounts))
		}
		for k, name := range names {
			i, ok := index[name]
			if !ok || d.x[i] != 0 {
				return fmt.Errorf("%s: draw %d uses %q, which is none or stands there twice", path, d.draw, name)
			}
			d.x[i] = amounts[k]
		}
		draws = append(draws, d)
		return nil
	})
	return draws, err
}

// eachRow calls visit for each row of a file, with the paths of its columns.
func eachRow(path string, visit func(columns [][]string, row parquet.Row) error) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return err
	}
	columns := file.Schema().Columns()
	reader := parquet.NewReader(file)
	defer func() { err = errors.Join(err, reader.Close()) }()
	rows := make([]parquet.Row, 64)
	for {
		n, err := reader.ReadRows(rows)
		for _, row := range rows[:n] {
			if err := visit(columns, row); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
