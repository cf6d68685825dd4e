package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/xuri/excelize/v2"
)

// A countdown is a context that ends once it was asked so many times whether it has.
type countdown struct {
	context.Context
	left, asked atomic.Int64
}

func (c *countdown) Err() error {
	c.asked.Add(1)
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// untilTables are tables in all forms, of many rows.
func untilTables(t *testing.T) map[string]string {
	t.Helper()
	const rows = 100
	var wide, long, document strings.Builder
	wide.WriteString("recipe,Gin,Rum,rating\n")
	long.WriteString("recipe,ingredient,amount\n")
	x := excelize.NewFile()
	for r := range rows {
		fmt.Fprintf(&wide, "r%d,1,%d,%d\n", r, 1+r%3, r%10)
		fmt.Fprintf(&long, "r%d,Gin,1\n", r)
		cells := []any{fmt.Sprint("r", r), 1, 1 + r%3}
		if r == 0 {
			cells = []any{"recipe", "Gin", "Rum"}
		}
		if err := x.SetSheetRow("Sheet1", fmt.Sprint("A", r+1), &cells); err != nil {
			t.Fatal(err)
		}
		document.WriteString(`<table:table-row>`)
		for _, cell := range cells {
			fmt.Fprintf(&document, `<table:table-cell office:value-type="string"><text:p>%v</text:p></table:table-cell>`, cell)
		}
		document.WriteString(`</table:table-row>`)
	}
	var office bytes.Buffer
	if err := x.Write(&office); err != nil {
		t.Fatal(err)
	}
	turned := "ingredient"
	for r := range rows {
		turned += fmt.Sprint(",r", r)
	}
	for _, row := range []string{"Gin", "Rum", "Lime"} {
		turned += "\n" + row + strings.Repeat(map[string]string{"Gin": ",50", "Rum": ",30", "Lime": ",20"}[row], rows)
	}
	return map[string]string{
		"wide.csv": wide.String(), "long.csv": long.String(), "turned.csv": turned + "\n",
		"a.xlsx": office.String(), "a.fods": string(inRows(t, document.String())),
	}
}

// TestUntil: wherever the reading of a table is, it ends soon after its context.
func TestUntil(t *testing.T) {
	for name, text := range untilTables(t) {
		read := func(most int64) (int64, error) {
			ctx := &countdown{Context: t.Context()}
			ctx.left.Store(most)
			_, err := Read(WithContext(ctx, io.NopCloser(strings.NewReader(text))), name, Options{})
			return ctx.asked.Load(), err
		}
		whole, err := read(1 << 40)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if whole < 100 {
			t.Errorf("%s: reading it looks %d times whether it is to end", name, whole)
		}
		for k := int64(0); k < whole; k += 1 + whole/50 {
			asked, err := read(k)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s, ended after %d looks of %d: %v", name, k, whole, err)
			}
			if asked > k+10 {
				t.Errorf("%s, ended after %d looks of %d, goes on for %d more", name, k, whole, asked-k)
			}
		}
	}
}
