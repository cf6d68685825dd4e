package main

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kir/internal/fault"
	"kir/internal/run"
	"kir/internal/run/zarr"
)

func newExportCommand() *cobra.Command {
	var format, out string
	every := 1
	c := &cobra.Command{
		Use:   "export RUN --format arviz -o DIR",
		Short: "Write the draws of a run for other programs",
		Long: `Write the draws as Zarr that xarray and ArviZ open:

  group posterior     amount (chain, draw, ingredient), used (chain, draw)
  group sample_stats  lp, the log density, and each property's score

Amounts are dense: a number for each ingredient of each draw. For long runs of
many ingredients take every K-th draw, or read the Parquet files as they are.`,
		Example:           "  kir export runs/fresh-all-day-cocktails-1 --format arviz -o cocktails.zarr",
		Args:              one("run directory"),
		ValidArgsFunction: runDirectories,
		RunE: func(c *cobra.Command, args []string) error {
			if format != "arviz" {
				return &fault.Error{Message: "there is no format " + fault.Quote(format), Hint: "there is arviz"}
			}
			if every < 1 {
				return &fault.Error{Message: fmt.Sprintf("--every is %d", every), Hint: "it must be at least 1"}
			}
			r, err := openRun(c.Context(), args[0])
			if err != nil {
				return err
			}
			if err := complete(r, teller(c.ErrOrStderr(), false)); err != nil {
				return inputError(err)
			}
			if _, err := os.Lstat(out); !errors.Is(err, fs.ErrNotExist) {
				return &fault.Error{Message: fault.Quote(out) + " exists and is not overwritten", Hint: "name another directory with -o"}
			}
			// Whole or not at all: what a process that was killed leaves is beside it.
			part, err := "", removeLeft(out)
			if err == nil {
				part, err = os.MkdirTemp(filepath.Dir(out), filepath.Base(out)+".*.new")
			}
			if err == nil {
				err = exportZarr(c.Context(), r, run.Directory(part), every)
			}
			if err == nil {
				err = os.Chmod(part, 0o755)
			}
			if err == nil {
				err = os.Rename(part, out)
			}
			if err != nil {
				return errors.Join(fmt.Errorf("writing %s: %w", out, err), os.RemoveAll(part))
			}
			return nil
		},
	}
	c.Flags().StringVar(&format, "format", "", "arviz")
	c.Flags().StringVarP(&out, "output", "o", "", "directory to make, which must not exist")
	c.Flags().IntVar(&every, "every", every, "take every K-th draw")
	must(c.MarkFlagRequired("format"))
	must(c.MarkFlagRequired("output"))
	must(c.MarkFlagDirname("output"))
	must(c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"arviz"}, cobra.ShellCompDirectiveNoFileComp)))
	return c
}

// removeLeft removes what killed exports to a directory left beside it: what has such a
// name and was not written to for an hour, so that no process may be at it.
func removeLeft(out string) error {
	beside, err := os.ReadDir(filepath.Dir(out))
	if err != nil {
		return nil // whether something can be written there is another question
	}
	for _, e := range beside {
		number, begins := strings.CutPrefix(e.Name(), filepath.Base(out)+".")
		number, ends := strings.CutSuffix(number, ".new")
		if !begins || !ends || !e.IsDir() || number == "" || strings.Trim(number, "0123456789") != "" {
			continue
		}
		path := filepath.Join(filepath.Dir(out), e.Name())
		var last time.Time
		walked := filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err == nil && info.ModTime().After(last) {
				last = info.ModTime()
			}
			return err
		})
		switch {
		case errors.Is(walked, fs.ErrNotExist): // another process is done with it
		case walked != nil:
			err = errors.Join(err, walked)
		case time.Since(last) > time.Hour:
			err = errors.Join(err, os.RemoveAll(path))
		}
	}
	return err
}

// chunkElements is about how many numbers a chunk of amounts has.
const chunkElements = 1 << 20

// exportZarr writes every every-th draw of a run in the layout of ArviZ's
// InferenceData.
func exportZarr(ctx context.Context, r *run.Run, to run.Store, every int) error {
	m := r.Manifest
	chains, draws, ingredients := m.Settings.Chains, (m.Settings.Draws+every-1)/every, m.IngredientCount()
	attributes := map[string]any{"inference_library": "kir", "inference_library_version": m.Version, "sampler": m.Settings, "every": every}
	s, err := zarr.Create(func(name string, data []byte) error { return to.Create(ctx, name, data) }, attributes)
	if err != nil {
		return err
	}
	for _, group := range []string{"posterior", "sample_stats"} {
		if err := s.Group(group, attributes); err != nil {
			return err
		}
		if err := errors.Join(s.Range(group, "chain", chains), s.Range(group, "draw", draws)); err != nil {
			return err
		}
	}
	if err := s.Strings("posterior", "ingredient", m.IngredientNames()); err != nil {
		return err
	}
	rows := max(1, min(draws, chunkElements/ingredients)) // draws in a chunk
	columns := []exportColumn{
		{group: "posterior", name: "amount", dtype: "<i4", width: ingredients, put: func(b []byte, d *run.Draw) {
			for _, p := range d.Parts {
				binary.LittleEndian.PutUint32(b[4*p.Ingredient:], uint32(p.Amount))
			}
		}},
		{group: "posterior", name: "used", dtype: "<i4", put: func(b []byte, d *run.Draw) {
			binary.LittleEndian.PutUint32(b, uint32(len(d.Parts)))
		}},
		{group: "sample_stats", name: "lp", dtype: "<f8", put: func(b []byte, d *run.Draw) {
			binary.LittleEndian.PutUint64(b, math.Float64bits(d.LogDensity))
		}},
	}
	taken := make(map[string]bool)
	for k, property := range m.Properties {
		name := "score_" + slug(property)
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("score_%s-%d", slug(property), n)
		}
		taken[name] = true
		columns = append(columns, exportColumn{group: "sample_stats", name: name, title: property, dtype: "<f8", put: func(b []byte, d *run.Draw) {
			binary.LittleEndian.PutUint64(b, math.Float64bits(d.Scores[k]))
		}})
	}
	for k := range columns {
		if err := columns[k].open(s, chains, draws, rows); err != nil {
			return err
		}
	}
	for chain := range chains {
		kept := 0
		flush := func() error {
			for k := range columns {
				if err := columns[k].flush(chain, (kept-1)/rows); err != nil {
					return err
				}
			}
			return nil
		}
		for d, err := range r.Chain(ctx, chain) {
			if err != nil {
				return err
			}
			if d.Draw%every != 0 {
				continue
			}
			for k := range columns {
				columns[k].add(kept%rows, d)
			}
			if kept++; kept%rows == 0 {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		if kept%rows != 0 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return s.Close()
}

// exportColumn is an array with a number, or one for each ingredient, for each
// draw, and the chunk of it that is being filled.
type exportColumn struct {
	group, name, dtype string
	title              string // of the array for people; empty: its name
	width              int    // numbers for each draw; 0: one, without a dimension
	put                func(b []byte, d *run.Draw)

	array *zarr.Array
	row   int // bytes of a draw
	chunk []byte
}

func (c *exportColumn) open(s *zarr.Store, chains, draws, rows int) (err error) {
	shape, chunks, dimensions := []int{chains, draws}, []int{1, rows}, []string{"chain", "draw"}
	c.row = map[string]int{"<i4": 4, "<f8": 8}[c.dtype]
	if c.width > 0 {
		shape, chunks, dimensions = append(shape, c.width), append(chunks, c.width), append(dimensions, "ingredient")
		c.row *= c.width
	}
	c.chunk = make([]byte, rows*c.row)
	c.array, err = s.Array(c.group, c.name, cmp.Or(c.title, c.name), c.dtype, shape, chunks, dimensions)
	return err
}

func (c *exportColumn) add(row int, d *run.Draw) { c.put(c.chunk[row*c.row:(row+1)*c.row], d) }

func (c *exportColumn) flush(chain, chunk int) error {
	at := []int{chain, chunk}
	if c.width > 0 {
		at = append(at, 0)
	}
	err := c.array.Put(c.chunk, at...)
	clear(c.chunk)
	return err
}
