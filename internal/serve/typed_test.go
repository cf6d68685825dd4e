package serve

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// runScripts runs JavaScript of the page's scripts and returns what it prints.
func runScripts(t *testing.T, program string, names ...string) []byte {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node to run the script with")
	}
	var all strings.Builder
	for _, name := range names {
		text, err := os.ReadFile("assets/js/" + name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	file := filepath.Join(t.TempDir(), "scripts.mjs")
	if err := os.WriteFile(file, []byte(all.String()+program), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(node, file).Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestScriptReadsAmounts: the page takes amounts in each unit that it offers and in no other, and what it
// writes into a field it reads as the same amount.
func TestScriptReadsAmounts(t *testing.T) {
	texts := map[string]int{ // by what is typed: units of 1000 that divide 9 cl, -1 if it is refused
		"1.5 cl": 167, "1,5cl": 167, "15 ML": 167, "1.5": 167, " 20 % ": 200, "20%": 200, ".9": 100, "0.001 cl": 1, "0": 0, "9 cl": 1000,
		"1.5 dl": -1, "10 cl": -1, "101 %": -1, "": -1, "cl": -1, "-1 cl": -1, "1e3": -1, "1,500 ml": -1, "1 1/2 cl": -1, "NaN": -1,
	}
	asked, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	out := runScripts(t, `
const sizes = [{ name: 'cl', whole: 9 }, { name: '%', whole: 100 }, { name: 'ml', whole: 90 }], off = [];
for (const total of [7, 200, 1000, 12345]) for (const u of sizes) for (let n = 0; n <= total; n++) {
  const text = inUnit(n, total, u.whole) + ' ' + u.name, back = typedUnits(text, total, sizes, 'cl');
  const rule = asRule(n, total);
  if (back.units !== n || (rule.endsWith('%') ? Math.round(parseFloat(rule) * total * 1e6) !== Math.round(1e8 * n) : Number(rule) !== n)) off.push([n, total, text, rule, back]);
}
console.log(JSON.stringify({ off: off.slice(0, 5), read: Object.fromEntries(Object.keys(`+string(asked)+`).map(t => [t, typedUnits(t, 1000, sizes, 'cl')])), short: inUnit(167, 1000, 9) }));
`, "written.js", "typed.js")
	var got struct {
		Off  []any
		Read map[string]struct {
			Units *int
			Wrong string
		}
		Short string
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Off) > 0 {
		t.Errorf("amounts that are read as others than were written: %v", got.Off)
	}
	if got.Short != "1.5" {
		t.Errorf("167 of 1000 units of 9 cl are written %q", got.Short)
	}
	for text, want := range texts {
		r := got.Read[text]
		if want < 0 && (r.Wrong == "" || r.Units != nil) || want >= 0 && (r.Units == nil || *r.Units != want) {
			t.Errorf("%q is read as %v, %q, not as %d units", text, r.Units, r.Wrong, want)
		}
	}
}

// TestWeighingSheetOfPage: the page gets a sheet as a table, and whether it is of volumes.
func TestWeighingSheetOfPage(t *testing.T) {
	s := asking(t)
	for query, volume := range map[string]bool{"batch=700ml&round=5": true, "batch=100g&round=0.1": false} {
		w := httptest.NewRecorder()
		s.serveWeighing(w, httptest.NewRequest(http.MethodGet, "/weigh?entry=1&as=json&"+query, nil))
		var sheet WeighingSheet
		if text := w.Body.String(); json.Unmarshal([]byte(text), &sheet) != nil || sheet.IsVolume != volume || len(sheet.Rows) == 0 || len(sheet.Percents) != len(sheet.Rows) {
			t.Errorf("%s: the sheet is %s", query, text)
		}
	}
}
