package serve

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rowOf is the row of a line of the first table.
func rowOf(t *testing.T, v *SetupView, line int) RowView {
	t.Helper()
	if len(v.Tables) == 0 {
		t.Fatalf("the page shows no table: %+v", v.Faults)
	}
	at := slices.IndexFunc(v.Tables[0].Rows, func(r RowView) bool { return r.Line == line })
	if at < 0 {
		t.Fatalf("there is no line %d", line)
	}
	return v.Tables[0].Rows[at]
}

// TestBeginRows: a row that kir left out by itself is taken in by a click where it stands, and
// left out again by its question; the problem says so. A row that says nothing offers no click.
func TestBeginRows(t *testing.T) {
	c := newBeginner(t, SetupOptions{})
	v := c.gives("bar.csv", "drink,Gin,Lime,Soda,liking\nA,4,2,6,5\nB,3,2,1,6\nC,2,3,5,7\nD,5,1,1,4\nEverything,14,8,13,22\n* of the winter,,,,\n")
	row := rowOf(t, v, 6)
	if row.Restore == nil || row.Why != "A row that adds up all others is left out." || !strings.Contains(v.Summary, "4 recipes") {
		t.Fatalf("the row of sums is %+v; the page says %q", row, v.Summary)
	}
	if remark := rowOf(t, v, 7); remark.Restore != nil || !strings.Contains(remark.Why, "remark") {
		t.Errorf("a remark is %+v", remark)
	}
	chosen := func(v *SetupView) (text string, other answer) {
		t.Helper()
		for _, q := range v.Questions {
			if q.Text == `Is "Everything" a recipe, or does it sum up others?` {
				for _, a := range q.Answers {
					if a.Chosen {
						text += a.Text
					} else {
						other = a.Send
					}
				}
			}
		}
		return text, other
	}
	if text, _ := chosen(v); text != "Leave it out" {
		t.Errorf("of the row of sums %q is chosen", text)
	}
	v = c.says(*row.Restore)
	if row := rowOf(t, v, 6); row.Restore != nil || row.Why != "" || !strings.Contains(v.Summary, "5 recipes") || !strings.Contains(v.Text, "including: [Everything]") {
		t.Errorf("taken in it is %+v; the problem is\n%s", row, v.Text)
	}
	text, other := chosen(v)
	if text != "A recipe" {
		t.Errorf("when it is taken in, %q is chosen", text)
	}
	if v = c.says(other); strings.Contains(v.Text, "Everything]") && !strings.Contains(v.Text, "including: [Everything] takes it in") || !strings.Contains(v.Summary, "4 recipes") {
		t.Errorf("left out again the problem is\n%s", v.Text)
	}
	if v = c.says(answer{Do: "row", Name: "A", On: true}); !strings.Contains(v.Text, "without: [A]") || rowOf(t, v, 2).Restore == nil {
		t.Errorf("without A the problem is\n%s", v.Text)
	}
	if v = c.says(*rowOf(t, v, 2).Restore); strings.Contains(v.Text, "without: ") {
		t.Errorf("with A again the problem is\n%s", v.Text)
	}
}

// TestBeginEmptyRecipe: a recipe of nothing, which cannot be read, is left out by a click.
func TestBeginEmptyRecipe(t *testing.T) {
	c := newBeginner(t, SetupOptions{})
	v := c.gives("bar.csv", "drink,Gin,Lime,Soda,liking\nA,4,2,6,5\nB,0,0,0,6\nC,2,3,5,7\n")
	if v.Ready || len(v.Faults) != 1 || len(v.Faults[0].Answers) != 1 || v.Faults[0].Answers[0].Text != `Leave "B" out` {
		t.Fatalf("the page shows %+v", v.Faults)
	}
	if v = c.says(v.Faults[0].Answers[0].Send); !v.Ready || !strings.Contains(v.Text, "without: [B]") {
		t.Errorf("without it the page shows %+v and\n%s", v.Faults, v.Text)
	}
}

// TestBeginNoNumber: a cell that is no number among numbers is asked about by its place, and no
// other column becomes the objective for it.
func TestBeginNoNumber(t *testing.T) {
	text := "drink,Gin,Lime,Soda,temperature,rating\n"
	for r := range 20 {
		text += fmt.Sprintf("D%d,%d,%d,%d,%d,%d\n", r, 1+r%7, 2+r%5, 1+r%3, 20+r%9, 1+r*7%13)
	}
	text = strings.Replace(text, ",24,3\n", ",24,8?\n", 1)
	c := newBeginner(t, SetupOptions{})
	v := c.gives("bar.csv", text)
	if v.Ready || len(v.Faults) != 1 || v.Faults[0].Message != `"8?" in "rating" is not a number, while 19 others are.` || v.Faults[0].Place != "line 6" ||
		v.Faults[0].Hint != "Write a number, nothing if it is not known, or the word failed if the recipe could not be made." || len(v.Faults[0].Answers) != 2 {
		t.Fatalf("the page shows %+v", v.Faults)
	}
	for k, want := range []string{`"8?" means not measured`, `Leave "D4" out`} {
		c := newBeginner(t, SetupOptions{})
		a := c.gives("bar.csv", text).Faults[0].Answers[k]
		v := c.says(a.Send)
		if a.Text != want || !v.Ready || !strings.Contains(v.Text, "label: rating, maximize: true") {
			t.Errorf("%s: the page shows %+v and\n%s", a.Text, v.Faults, v.Text)
		}
		if k == 0 {
			before, answers := questionOn(t, v, "mean not measured?")
			if before != "Not measured" || !strings.Contains(v.Text, `unknown: ["8?"]`) || c.says(answers["A result"]).Ready {
				t.Errorf("the question holds %q beside\n%s", before, v.Text)
			}
		}
	}
}

// TestBeginTurnedRow: of a table with a row an ingredient, the row of sums is taken in, too.
func TestBeginTurnedRow(t *testing.T) {
	c := newBeginner(t, SetupOptions{})
	v := c.gives("lab.csv", "Component,F1,F2,F3,F4\nWater,70,60,65,75\nOil,20,30,25,15\nWax,10,10,10,10\nTotal,100,100,100,100\ngloss,40,50,45,30\n")
	row := rowOf(t, v, 5)
	if row.Restore == nil || row.Why != `"Total" is left out, as it sums up others.` {
		t.Fatalf("the row of sums is %+v", row)
	}
	if v = c.says(*row.Restore); rowOf(t, v, 5).Restore != nil || !strings.Contains(v.Text, "Total: label") {
		t.Errorf("taken in the problem is\n%s", v.Text)
	}
}

// TestBeginDocument: an OpenDocument spreadsheet is opened as a workbook, keeps its ending, and
// the problem names it so.
func TestBeginDocument(t *testing.T) {
	var content, data bytes.Buffer
	content.WriteString(`<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet><table:table table:name="Bar">`)
	for _, row := range strings.Split("drink,Gin,Lime,Soda,liking\nA,4,2,6,5\nB,3,2,1,6\nC,2,3,5,7\nD,5,1,1,4", "\n") {
		content.WriteString("<table:table-row>")
		for _, cell := range strings.Split(row, ",") {
			content.WriteString(`<table:table-cell office:value-type="string"><text:p>` + cell + `</text:p></table:table-cell>`)
		}
		content.WriteString("</table:table-row>")
	}
	content.WriteString("</table:table></office:spreadsheet></office:body></office:document-content>")
	archive := zip.NewWriter(&data)
	for _, part := range [][2]string{{"mimetype", "application/vnd.oasis.opendocument.spreadsheet"}, {"content.xml", content.String()}} {
		w, err := archive.Create(part[0])
		if err == nil {
			_, err = w.Write([]byte(part[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	c := newBeginner(t, SetupOptions{})
	v := c.gives("Winter%20list.ods", data.String())
	if !v.Ready || !strings.Contains(v.Summary, "4 recipes, 3 ingredients") || !strings.Contains(v.Text, "recipes: {file: Winter-list.ods, ") {
		t.Fatalf("the page says %q, %+v, and the problem is\n%s", v.Summary, v.Faults, v.Text)
	}
	if status, said := c.goes(); status != 200 {
		t.Fatalf("%d %s", status, said)
	}
	if kept, err := os.ReadFile(filepath.Join(c.dir, "Winter-list", "Winter-list.ods")); err != nil || !bytes.Equal(kept, data.Bytes()) {
		t.Errorf("the table that is kept has %d bytes of %d, %v", len(kept), data.Len(), err)
	}
}
