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
	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/run"
	"kir/internal/terminal"
)

// drawFormats are the names of the formats in which kir draws can print draws.
var drawFormats = []string{"long", "wide", "jsonl", "npy"}

func newDrawsCommand() *cobra.Command {
	format := "long"
	c := &cobra.Command{
		Use:   "draws RUN [--format FORMAT]",
		Short: "Print all random recipes (draws) of a run",
		Long: `Print all random recipes (draws) that a run drew in proportion to their score. They are
printed chain by chain; a chain is an independent sampling run. Choose a format:

  long   CSV: chain,draw,ingredient,amount; a row for each used ingredient
  wide   CSV: chain,draw and a column for each ingredient; a row for each draw
  jsonl  a JSON object for each draw: chain, draw, recipe, scores (of the
         objectives), log_density
  npy    a file for Python (NumPy), with an array element for each draw. Its fields are
         chain, draw, log_density, used (the number of ingredients), score (of each
         objective) and amount (one number per ingredient)

Amounts are numbers of steps: those of a draw add up to the total of the problem. With
the total 1000, a step is 0.1 % of the recipe.

log_density is, up to a constant, the logarithm of the probability of a recipe.

Conditions are settings of a trial, such as a temperature. They add columns to long and
wide, the object "conditions" to jsonl, and the field "condition" to npy.

The run's directory keeps the draws in a format for data programs (Parquet). DuckDB,
polars and pandas read the files draws/**/*.parquet as one table.`,
		Example: `  kir draws runs/fresh-all-day-cocktails-1 > draws.csv
  kir draws runs/fresh-all-day-cocktails-1 --format jsonl | head -n 1
  kir draws runs/fresh-all-day-cocktails-1 --format npy > draws.npy`,
		Args:              requireOneArg("run directory"),
		ValidArgsFunction: completeRunDirectories,
		RunE: func(c *cobra.Command, args []string) error {
			write := map[string]func(context.Context, io.Writer, *run.Run) error{"long": writeLongCSV, "wide": writeWideCSV, "jsonl": writeJSONL, "npy": writeNPY}[format]
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
			if err := checkRunComplete(r, newLogger(c.ErrOrStderr(), false)); err != nil {
				return toInputError(err)
			}
			w := bufio.NewWriterSize(c.OutOrStdout(), 1<<16)
			if err := write(c.Context(), w, r); err != nil {
				return err
			}
			return w.Flush()
		},
	}
	c.Flags().StringVar(&format, "format", format, "`FORMAT` of the output: long, wide, jsonl or npy")
	must(c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(drawFormats, cobra.ShellCompDirectiveNoFileComp)))
	return c
}

// csvField returns text as a field of CSV, quoted if necessary. It also changes text that a spreadsheet would
// evaluate as a formula.
func csvField(text string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	text = sheet.SafeCell(text)
	if w.Write([]string{text}) != nil {
		return text // a strings.Builder does not fail
	}
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}

// csvIngredientNames returns the names of the ingredients as CSV fields.
func csvIngredientNames(r *run.Run) []string {
	names := make([]string, r.Manifest.IngredientCount())
	for i, name := range r.Manifest.IngredientNames() {
		names[i] = csvField(name)
	}
	return names
}

func writeLongCSV(ctx context.Context, w io.Writer, r *run.Run) error {
	names := csvIngredientNames(r)
	if _, err := fmt.Fprintf(w, "chain,draw,ingredient,amount%s\n", conditionColumnHeads(r)); err != nil {
		return err
	}
	texts := conditionCSVFields(r)
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
			line = appendConditionFields(line, texts, d)
			line = append(line, '\n')
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

func writeWideCSV(ctx context.Context, w io.Writer, r *run.Run) error {
	names := csvIngredientNames(r)
	if _, err := fmt.Fprintf(w, "chain,draw,%s%s\n", strings.Join(names, ","), conditionColumnHeads(r)); err != nil {
		return err
	}
	texts := conditionCSVFields(r)
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
		line = appendConditionFields(line, texts, d)
		line = append(line, '\n')
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// conditionColumnHeads returns the headings of the columns that hold the values of conditions. A comma precedes
// each heading.
func conditionColumnHeads(r *run.Run) string {
	var b strings.Builder
	for _, c := range r.Manifest.Conditions {
		b.WriteString("," + csvField(c.Name))
	}
	return b.String()
}

// conditionCSVFields returns the values of the conditions as CSV fields: item [c][v] is value v of condition c.
func conditionCSVFields(r *run.Run) [][]string {
	var all [][]string
	for k := range r.Manifest.Conditions {
		c := &r.Manifest.Conditions[k]
		fields := make([]string, c.Values())
		for v := range fields {
			if c.Numbers != nil {
				fields[v] = number.RoundTrip(c.Numbers[v])
			} else {
				fields[v] = csvField(c.Categories[v])
			}
		}
		all = append(all, fields)
	}
	return all
}

// appendConditionFields appends to line the values of the conditions of a draw, each preceded by a comma.
func appendConditionFields(line []byte, texts [][]string, d *run.Draw) []byte {
	for k, v := range d.Conditions {
		line = append(line, ',')
		line = append(line, texts[k][v]...)
	}
	return line
}

// A drawJSON is one line of the output of kir draws --format jsonl, and describes one draw.
type drawJSON struct {
	Chain      int                      `json:"chain"`
	Draw       int                      `json:"draw"`
	Recipe     map[string]int           `json:"recipe"`               // maps the name of an ingredient to its units
	Conditions map[string]any           `json:"conditions,omitempty"` // maps the name of a condition to its value
	Scores     map[string]report.Number `json:"scores"`               // maps the name of an objective to its score
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
		for k, v := range d.Conditions {
			if line.Conditions == nil {
				line.Conditions = make(map[string]any)
			}
			line.Conditions[r.Manifest.Conditions[k].Name] = r.Manifest.Conditions[k].Value(int(v))
		}
		for k, y := range d.Scores {
			line.Scores[r.Manifest.Properties[k]] = report.Number(y)
		}
		b.Reset()
		if err := e.Encode(line); err != nil {
			return err
		}
		if _, err := w.Write(terminal.EscapeJSON(b.Bytes())); err != nil {
			return err
		}
	}
	return nil
}

// writeNPY writes the draws as a NumPy file, version 2.0. The file has a header that describes the fields of a
// record as a Python literal. Then come the records, one for each draw, little-endian and without gaps.
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
	condition, values := encodeNPYConditions(m.Conditions)
	header := fmt.Sprintf("{'descr': [('chain', '<i4'), ('draw', '<i8'), ('log_density', '<f8'), ('used', '<i4'), %s%s('amount', [%s])], 'fortran_order': False, 'shape': (%d,)}",
		score, condition, fields("<i4", m.IngredientNames()), m.Settings.Chains*m.Settings.Draws)
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
		for k, v := range d.Conditions {
			record = append(record, values[k][v]...)
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

// encodeNPYConditions returns two things:
//   - The text that describes the field of the conditions in the header of a NumPy file. It is empty without
//     conditions.
//   - The bytes of each value of each condition. A value is a number, or a text in UCS-4 that is padded to the
//     length of the longest category.
func encodeNPYConditions(conditions []run.Condition) (field string, values [][][]byte) {
	if len(conditions) == 0 {
		return "", nil
	}
	var b strings.Builder
	for k := range conditions {
		c := &conditions[k]
		kind, longest := "<f8", 0
		for _, category := range c.Categories {
			longest = max(longest, len([]rune(category)))
		}
		if c.Numbers == nil {
			kind = fmt.Sprintf("<U%d", longest)
		}
		fmt.Fprintf(&b, "(%s, '%s'), ", strconv.QuoteToASCII(c.Name), kind)
		var all [][]byte
		for _, v := range c.Numbers {
			all = append(all, binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
		}
		for _, category := range c.Categories {
			text := make([]byte, 4*longest)
			for at, character := range []rune(category) {
				binary.LittleEndian.PutUint32(text[4*at:], uint32(character))
			}
			all = append(all, text)
		}
		values = append(values, all)
	}
	return "('condition', [" + b.String() + "]), ", values
}
