package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"kir/internal/dataset/sheet"
	"kir/internal/inputerr"
	"kir/internal/report"
	"kir/internal/run"
	"kir/internal/terminal"
)

// drawFormats are the formats that kir draws can print.
var drawFormats = []string{"long", "wide", "jsonl", "npy"}

func newDrawsCommand() *cobra.Command {
	format := "long"
	c := &cobra.Command{
		Use:   "draws RUN [--format long|wide|jsonl|npy]",
		Short: "Print the draws of a run",
		Long: `Print every draw of a run, chain after chain, as it is read:

  long   CSV: chain,draw,ingredient,amount; a row for each used ingredient
  wide   CSV: chain,draw and a column for each ingredient; a row for each draw
  jsonl  a JSON object for each draw: chain, draw, recipe, scores, log_density
  npy    a NumPy file: a record for each draw with the fields chain, draw, log_density,
         used, score (a field for each property) and amount (one for each ingredient)

The draws themselves are Parquet files in the run's directory: DuckDB, polars and
pandas read draws/**/*.parquet as one table.`,
		Example: `  kir draws runs/fresh-all-day-cocktails-1 > draws.csv
  kir draws runs/fresh-all-day-cocktails-1 --format jsonl | head -n 1
  kir draws runs/fresh-all-day-cocktails-1 --format npy > draws.npy`,
		Args:              exactlyOneArg("run directory"),
		ValidArgsFunction: completeRunDirectories,
		RunE: func(c *cobra.Command, args []string) error {
			write := map[string]func(context.Context, io.Writer, *run.Run) error{"long": writeLong, "wide": writeWide, "jsonl": writeJSONL, "npy": writeNPY}[format]
			if write == nil {
				e := &inputerr.Error{Message: "there is no format " + inputerr.Quote(format), Hint: inputerr.DidYouMean(format, drawFormats)}
				if e.Hint == "" {
					e.Hint = "there are " + strings.Join(drawFormats, ", ")
				}
				return e
			}
			r, err := openRun(c.Context(), args[0])
			if err != nil {
				return err
			}
			if err := checkComplete(r, logger(c.ErrOrStderr(), false)); err != nil {
				return inputError(err)
			}
			w := bufio.NewWriterSize(c.OutOrStdout(), 1<<16)
			if err := write(c.Context(), w, r); err != nil {
				return err
			}
			return w.Flush()
		},
	}
	c.Flags().StringVar(&format, "format", format, "long, wide, jsonl or npy")
	must(c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(drawFormats, cobra.ShellCompDirectiveNoFileComp)))
	return c
}

// csvField quotes a field for CSV, and keeps a spreadsheet from running it.
func csvField(text string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	text = sheet.Safe(text)
	if w.Write([]string{text}) != nil {
		return text // a strings.Builder does not fail
	}
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}

// csvNames returns the ingredients' names as CSV fields.
func csvNames(r *run.Run) []string {
	names := make([]string, r.Manifest.IngredientCount())
	for i, name := range r.Manifest.IngredientNames() {
		names[i] = csvField(name)
	}
	return names
}

func writeLong(ctx context.Context, w io.Writer, r *run.Run) error {
	names := csvNames(r)
	if _, err := io.WriteString(w, "chain,draw,ingredient,amount\n"); err != nil {
		return err
	}
	var line []byte
	for d, err := range r.Draws(ctx) {
		if err != nil {
			return err
		}
		line = line[:0]
		for _, p := range d.Parts {
			line = strconv.AppendInt(line, int64(d.Chain), 10)
			line = append(line, ',')
			line = strconv.AppendInt(line, int64(d.Draw), 10)
			line = append(line, ',')
			line = append(line, names[p.Ingredient]...)
			line = append(line, ',')
			line = strconv.AppendInt(line, int64(p.Amount), 10)
			line = append(line, '\n')
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

func writeWide(ctx context.Context, w io.Writer, r *run.Run) error {
	names := csvNames(r)
	if _, err := fmt.Fprintf(w, "chain,draw,%s\n", strings.Join(names, ",")); err != nil {
		return err
	}
	var line []byte
	for d, err := range r.Draws(ctx) {
		if err != nil {
			return err
		}
		line = strconv.AppendInt(line[:0], int64(d.Chain), 10)
		line = append(line, ',')
		line = strconv.AppendInt(line, int64(d.Draw), 10)
		parts := d.Parts
		for i := range names {
			line = append(line, ',')
			if len(parts) > 0 && parts[0].Ingredient == i {
				line = strconv.AppendInt(line, int64(parts[0].Amount), 10)
				parts = parts[1:]
			} else {
				line = append(line, '0')
			}
		}
		line = append(line, '\n')
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// drawJSON is one line of --format jsonl.
type drawJSON struct {
	Chain      int                      `json:"chain"`
	Draw       int                      `json:"draw"`
	Recipe     map[string]int           `json:"recipe"`
	Scores     map[string]report.Number `json:"scores"`
	LogDensity report.Number            `json:"log_density"`
}

func writeJSONL(ctx context.Context, w io.Writer, r *run.Run) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for d, err := range r.Draws(ctx) {
		if err != nil {
			return err
		}
		line := drawJSON{Chain: d.Chain, Draw: d.Draw, LogDensity: report.Number(d.LogDensity),
			Recipe: make(map[string]int, len(d.Parts)), Scores: make(map[string]report.Number, len(d.Scores))}
		for _, p := range d.Parts {
			line.Recipe[r.Manifest.Ingredient(p.Ingredient)] = p.Amount
		}
		for k, y := range d.Scores {
			line.Scores[r.Manifest.Properties[k]] = report.Number(y)
		}
		b.Reset()
		if err := e.Encode(line); err != nil {
			return err
		}
		if _, err := w.Write(terminal.JSON(b.Bytes())); err != nil {
			return err
		}
	}
	return nil
}

// writeNPY writes a NumPy file, version 2.0: a header that describes the record, in the
// notation of Python's literals, and the records, little-endian and without gaps.
func writeNPY(ctx context.Context, w io.Writer, r *run.Run) error {
	m := r.Manifest
	fields := func(kind string, names []string) string {
		var b strings.Builder
		for _, name := range names {
			fmt.Fprintf(&b, "(%s, '%s'), ", strconv.QuoteToASCII(name), kind)
		}
		return b.String()
	}
	score := ""
	if len(m.Properties) > 0 { // NumPy has no record without fields
		score = "('score', [" + fields("<f8", m.Properties) + "]), "
	}
	header := fmt.Sprintf("{'descr': [('chain', '<i4'), ('draw', '<i8'), ('log_density', '<f8'), ('used', '<i4'), %s('amount', [%s])], 'fortran_order': False, 'shape': (%d,)}",
		score, fields("<i4", m.IngredientNames()), m.Settings.Chains*m.Settings.Draws)
	const before, block = 12, 64 // bytes before the header; records begin at a multiple of a block
	header += strings.Repeat(" ", block-1-(before+len(header))%block) + "\n"
	start := append([]byte("\x93NUMPY\x02\x00"), binary.LittleEndian.AppendUint32(nil, uint32(len(header)))...)
	if _, err := w.Write(append(start, header...)); err != nil {
		return err
	}
	var record []byte
	for d, err := range r.Draws(ctx) {
		if err != nil {
			return err
		}
		record = binary.LittleEndian.AppendUint32(record[:0], uint32(d.Chain))
		record = binary.LittleEndian.AppendUint64(record, uint64(d.Draw))
		record = binary.LittleEndian.AppendUint64(record, math.Float64bits(d.LogDensity))
		record = binary.LittleEndian.AppendUint32(record, uint32(len(d.Parts)))
		for _, y := range d.Scores {
			record = binary.LittleEndian.AppendUint64(record, math.Float64bits(y))
		}
		amounts := len(record)
		record = append(record, make([]byte, 4*m.IngredientCount())...)
		for _, p := range d.Parts {
			binary.LittleEndian.PutUint32(record[amounts+4*p.Ingredient:], uint32(p.Amount))
		}
		if _, err := w.Write(record); err != nil {
			return err
		}
	}
	return nil
}
