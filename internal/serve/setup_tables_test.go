package serve

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kir/internal/testonly/testmode"
)

// readingOf says how a page reads its tables: the columns and their roles, what the tables contain, and the answers that
// hold.
func readingOf(v *SetupView) string {
	text := v.Summary + "\n"
	for _, t := range v.Tables {
		for _, c := range t.Columns {
			text += fmt.Sprint(c.Name, " ", c.Role, "\n")
		}
	}
	for _, q := range v.Questions {
		for _, a := range q.Answers {
			if a.Chosen {
				text += q.Text + ": " + a.Text + "\n"
			}
		}
	}
	return text
}

// TestBeginTables gives the page the tables that the reader is tested with: each is read after a few clicks at most, and
// each question is answered otherwise and back by two clicks.
func TestBeginTables(t *testing.T) {
	t.Parallel()
	testmode.CollectRarely()
	files, err := filepath.Glob("../compile/testdata/tables/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no tables", err)
	}
	r := rand.New(rand.NewPCG(7, 11))
	clicks, questions, tables := 0, 0, 0
	for _, file := range files {
		if r.IntN(testmode.Pick(1, 10)) > 0 {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(file), ".json") + ".csv"
		text, err := os.ReadFile(filepath.Join(filepath.Dir(file), name))
		if err != nil {
			name = strings.TrimSuffix(name, ".csv") + ".xlsx"
			if text, err = os.ReadFile(filepath.Join(filepath.Dir(file), name)); err != nil {
				t.Fatal(err)
			}
		}
		tables++
		c := newBeginner(t, SetupOptions{})
		v := c.gives(name, string(text))
		for range 6 {
			if len(v.Faults) == 0 || len(v.Faults[0].Answers) == 0 {
				break
			}
			v = c.says(v.Faults[0].Answers[0].Send)
			clicks++
		}
		if len(v.Faults) > 0 {
			t.Errorf("%s: the page shows %+v", name, v.Faults)
			continue
		}
		for range 4 {
			if len(v.Questions) == 0 {
				break
			}
			q := v.Questions[r.IntN(len(v.Questions))]
			var chosen, other *AnswerView
			for k := range q.Answers {
				if q.Answers[k].Chosen {
					chosen = &q.Answers[k]
				} else if other == nil || r.IntN(2) == 0 {
					other = &q.Answers[k]
				}
			}
			if chosen == nil || other == nil {
				continue
			}
			questions++
			before := readingOf(v)
			c.says(other.Send)
			v = c.says(chosen.Send)
			after := readingOf(v)
			for line := range strings.Lines(before) { // other questions may have come up
				if !strings.Contains(after, line) {
					t.Errorf("%s: %s\n%q and back to %q loses %s%+v", name, q.Text, other.Text, chosen.Text, line, v.Faults)
				}
			}
		}
	}
	if questions < tables {
		t.Errorf("%d tables led to %d questions; want one each at least on average", tables, questions)
	}
	t.Logf("%d tables, %d clicks on faults, %d questions", tables, clicks, questions)
}
