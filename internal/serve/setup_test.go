package serve

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kir/internal/compile"
	"kir/internal/config"
)

// A beginner asks a server that makes a problem of a table.
type beginner struct {
	t       *testing.T
	dir     string
	server  *setupServer
	opened  string // the problem whose session was begun
	refuses error  // what the session's opening fails with
}

func newBeginner(t *testing.T, o SetupOptions) *beginner {
	t.Helper()
	c := &beginner{t: t, dir: t.TempDir()}
	if o.Dir == "" {
		o.Dir = c.dir
	}
	b, err := newSetup(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	c.server = newSetupServer(t.Context(), b, func(file string) (http.Handler, error) {
		c.opened = file
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "the session") }), c.refuses
	})
	return c
}

// asks sends a request, and returns the status and the answer.
func (c *beginner) asks(method, path, kind string, body []byte) (int, []byte) {
	c.t.Helper()
	r := httptest.NewRequest(method, path, bytes.NewReader(body))
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	w := httptest.NewRecorder()
	c.server.ServeHTTP(w, r)
	return w.Code, w.Body.Bytes()
}

// sees is what the page shows, after a request that is answered with a view.
func (c *beginner) sees(method, path, kind string, body []byte) *SetupView {
	c.t.Helper()
	status, data := c.asks(method, path, kind, body)
	v := new(SetupView)
	if err := json.Unmarshal(data, v); err != nil || status != http.StatusOK {
		c.t.Fatalf("%s is answered with %d, %s", path, status, data)
	}
	return v
}

func (c *beginner) gives(name, text string) *SetupView {
	c.t.Helper()
	return c.sees("POST", "/begin/table?of=recipes&name="+name, "application/octet-stream", []byte(text))
}

func (c *beginner) says(a answer) *SetupView {
	c.t.Helper()
	data, err := json.Marshal(a)
	if err != nil {
		c.t.Fatal(err)
	}
	return c.sees("POST", "/begin/answer", "application/json", data)
}

// goes makes the problem, and returns what is answered.
func (c *beginner) goes() (int, string) {
	c.t.Helper()
	status, data := c.asks("POST", "/begin/go", "application/json", []byte("{}"))
	return status, string(data)
}

// kinds are what the cells of a row were taken for.
func kinds(r RowView) (kinds []string) {
	for _, c := range r.Cells {
		kinds = append(kinds, c.Kind)
	}
	return kinds
}

const messy = "Our bar,,,,\n\nDrink,Gin (cl),Lime (cl),Syrup (cl),Rating,Comment\nA,4,2,1,7,a\nB,5,2,1,8,b\nC,3,1,2,4,c\nD,4,1,-,5,d\nE,4,,1,3,e\nF,6,3,2,9,f\n* not all were tasted,,,,,\n"

// TestBeginColours: cells of titles, headers, amounts, results and remarks are taken for
// what they are, a column that is answered for is taken as said, and the question stays.
func TestBeginColours(t *testing.T) {
	c := newBeginner(t, SetupOptions{})
	if v := c.sees("GET", "/begin/view", "", nil); len(v.Tables) > 0 || v.Ready || len(v.Examples) != 3 {
		t.Errorf("before there is a table the page shows %+v", v)
	}
	v := c.gives("bar.csv", messy)
	if !v.Ready || v.Summary != "6 recipes, 3 ingredients" || len(v.Tables) != 1 {
		t.Fatalf("the page shows %+v", v)
	}
	rows := v.Tables[0].Rows
	for k, want := range [][]string{
		{"left"}, {"name", "ingredient", "ingredient", "ingredient", "result", "note"}, {"name", "amount", "amount", "amount", "result", "note"},
	} {
		if got := kinds(rows[k]); !slices.Equal(got[:len(want)], want) {
			t.Errorf("row %d is taken for %q, want %q", k+1, got, want)
		}
	}
	if got := kinds(rows[len(rows)-1]); got[0] != "left" || !rows[1].IsHeader {
		t.Errorf("the remark is taken for %q; the header is one: %v", got, rows[1].IsHeader)
	}
	if len(v.Questions) == 0 || !v.Questions[0].Answers[0].Chosen {
		t.Fatalf("it asks %+v", v.Questions)
	}
	if t0 := v.Targets[0]; t0.Name != "Rating" || t0.Objective.Direction != config.Maximize {
		t.Errorf("the first objective is %+v", t0)
	}
	v = c.says(answer{Do: "column", Name: "Rating", Value: "ignore"})
	if got := kinds(v.Tables[0].Rows[2]); got[4] != "left" {
		t.Errorf("a column that was left out is taken for %q", got)
	}
	if len(v.Questions) == 0 || v.Questions[0].Answers[0].Chosen || !v.Questions[0].Answers[2].Chosen {
		t.Errorf("what was answered is shown as %+v", v.Questions)
	}
	if !strings.Contains(v.Text, "columns: {Rating: ignore}") {
		t.Errorf("the problem is\n%s", v.Text)
	}
	// What was answered is there for another tab, or when the page is opened again.
	if again := c.sees("GET", "/begin/view", "", nil); again.Text != v.Text {
		t.Errorf("opened again the problem is\n%s", again.Text)
	}
}

// TestBeginGoes: what is written is what was shown, in a new directory, beside its schema,
// and only once.
func TestBeginGoes(t *testing.T) {
	c := newBeginner(t, SetupOptions{})
	if status, text := c.goes(); status != http.StatusBadRequest || !strings.Contains(text, "no table yet") {
		t.Errorf("without a table it says %d, %s", status, text)
	}
	if err := os.Mkdir(filepath.Join(c.dir, "bar"), 0o777); err != nil {
		t.Fatal(err)
	}
	v := c.gives("../../bar.csv", messy)
	if want := filepath.Join(c.dir, "bar-2", "problem.yaml"); v.ProblemPath != want {
		t.Errorf("it will write %s, want %s", v.ProblemPath, want)
	}
	c.says(answer{Do: "goal", Name: "Rating", Objective: compile.DraftObjective{Direction: config.Between, From: 5, To: 8}})
	v = c.says(answer{Do: "pairs", On: false})
	if entries, err := os.ReadDir(filepath.Join(c.dir, "bar")); err != nil || len(entries) > 0 {
		t.Errorf("there are %v, %v", entries, err)
	}
	if status, text := c.goes(); status != http.StatusOK || c.opened != v.ProblemPath {
		t.Fatalf("it says %d, %s, and opens %s", status, text, c.opened)
	}
	text, err := os.ReadFile(v.ProblemPath)
	if err != nil || string(text) != v.Text || !strings.Contains(v.Text, "between: [5, 8]") {
		t.Errorf("it wrote %v\n%s\nand showed\n%s", err, text, v.Text)
	}
	for _, name := range []string{"bar.csv", "problem.schema.json"} {
		if _, err := os.Stat(filepath.Join(filepath.Dir(v.ProblemPath), name)); err != nil {
			t.Error(err)
		}
	}
	if status, data := c.asks("GET", "/", "", nil); status != http.StatusOK || string(data) != "the session" {
		t.Errorf("then the page is %d, %s", status, data)
	}
	if status, text := c.goes(); status != http.StatusBadRequest || !strings.Contains(text, "made already") {
		t.Errorf("again it says %d, %s", status, text)
	}
}

// TestBeginBeside: what is made of a file that was named goes beside it, over nothing; the
// table itself stays as it is.
func TestBeginBeside(t *testing.T) {
	dir := t.TempDir()
	table := filepath.Join(dir, "my bar.csv")
	for name, text := range map[string]string{table: messy, filepath.Join(dir, "my bar.yaml"): "kept", filepath.Join(dir, "problem.schema.json"): "kept"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	c := newBeginner(t, SetupOptions{Table: table})
	v := c.sees("GET", "/begin/view", "", nil)
	if want := filepath.Join(dir, "my bar-2.yaml"); v.ProblemPath != want || !v.Ready {
		t.Errorf("it will write %s, want %s: %+v", v.ProblemPath, want, v.Faults)
	}
	// Somebody else takes the name meanwhile.
	u := c.server.setup
	if err := os.WriteFile(filepath.Join(dir, "my bar-2.yaml"), []byte("kept"), 0o666); err != nil {
		t.Fatal(err)
	}
	if status, text := c.goes(); status != http.StatusOK || filepath.Base(c.opened) != "my bar-3.yaml" {
		t.Errorf("it says %d, %s, and opens %s", status, text, c.opened)
	}
	for name, want := range map[string]string{"my bar.csv": messy, "my bar.yaml": "kept", "my bar-2.yaml": "kept", "problem.schema.json": "kept"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != want {
			t.Errorf("%s is %q, %v", name, text, err)
		}
	}
	if !u.isWritten {
		t.Error("nothing was made")
	}
	if _, err := newSetup(t.Context(), SetupOptions{Table: filepath.Join(dir, "none.csv")}); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a file that is not there is %v", err)
	}
}

// TestBeginFull: where nothing can be written it says so, leaves nothing, and can be tried
// again.
func TestBeginFull(t *testing.T) {
	if os.Getuid() == 0 {
		t.Log("root may write anywhere: a file stands where the directory would be")
	}
	dir := t.TempDir()
	blocked := filepath.Join(dir, "file")
	if err := os.WriteFile(blocked, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	c := newBeginner(t, SetupOptions{Dir: blocked})
	c.gives("bar.csv", messy)
	status, text := c.goes()
	if status != http.StatusBadRequest || !strings.Contains(text, "cannot be written") || !strings.Contains(text, "nothing was made") {
		t.Errorf("it says %d, %s", status, text)
	}
	if err := os.Remove(blocked); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(blocked, 0o777); err != nil {
		t.Fatal(err)
	}
	if status, text := c.goes(); status != http.StatusOK {
		t.Errorf("when there is room it says %d, %s", status, text)
	}
	// Constraints that conflict are reported, not dropped: stock of none of what all recipes have.
	c = newBeginner(t, SetupOptions{})
	c.gives("bar.csv", "recipe,ingredient,amount\nA,Gin,3\nA,Lime,1\nB,Gin,4\nB,Lime,1\n")
	if v := c.sees("POST", "/begin/table?of=ingredients&name=shelf.csv", "application/octet-stream", []byte("name,stock\nGin,700\nLime,0\n")); !v.Ready || len(v.Tables) != 2 {
		t.Fatalf("with a shelf the page shows %+v", v)
	}
	if status, text := c.goes(); status != http.StatusBadRequest || !strings.Contains(text, "cannot all hold") || !strings.Contains(text, "Which constraints apply?") {
		t.Errorf("constraints that conflict are %d, %s", status, text)
	}
	if entries, err := os.ReadDir(c.dir); err != nil || len(entries) > 0 {
		t.Errorf("it leaves %v, %v", entries, err)
	}
	c.says(answer{Do: "bound", Name: compile.StockBoundKey, On: false})
	if status, text := c.goes(); status != http.StatusOK {
		t.Errorf("without the stock it says %d, %s", status, text)
	}
	// A problem that cannot be sampled leaves no directory.
	c = newBeginner(t, SetupOptions{})
	c.gives("bar.csv", messy)
	c.server.setup.objectives = map[string]compile.DraftObjective{"Rating": {Direction: config.Between, From: 1e6, To: 2e6}}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	c.server.ctx = gone
	if status, text := c.goes(); status == http.StatusOK {
		t.Errorf("it says %s", text)
	}
	if entries, err := os.ReadDir(c.dir); err != nil || len(entries) > 0 {
		t.Errorf("it leaves %v, %v", entries, err)
	}
}

// TestBeginHostile: what is too large, of the wrong kind, a bomb or no table at all is
// refused in words, and nothing of it stays.
func TestBeginHostile(t *testing.T) {
	var bomb bytes.Buffer
	z := zip.NewWriter(&bomb)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
	for _, name := range []string{"[Content_Types].xml", "xl/workbook.xml", "xl/worksheets/sheet1.xml"} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		for range 90 {
			if _, err := w.Write(bytes.Repeat([]byte(" "), 1<<20)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	wide := strings.Repeat("x,", 1<<18) + "y\n1\n"
	c := newBeginner(t, SetupOptions{})
	for name, text := range map[string]string{
		"bomb.xlsx": bomb.String(), "cut.xlsx": "PK\x03\x04 and no more", "wide.csv": wide, "old.xls": "\xd0\xcf\x11\xe0" + strings.Repeat("\x00", 600), "page.pdf": "%PDF-1.7",
		"zeros.csv": strings.Repeat("\x00", 1<<16), "one.csv": "x", "quote.csv": "recipe,ingredient,amount\n\"A,Gin,1\n", "deep.json": strings.Repeat("[", 1<<16),
	} {
		begun := time.Now()
		v := c.gives(name, text)
		if v.Ready || len(v.Faults) == 0 || v.Faults[0].Message == "" {
			t.Errorf("%s is taken: %+v", name, v)
		}
		if took := time.Since(begun); took > 30*time.Second {
			t.Errorf("%s takes %v", name, took)
		}
		if status, text := c.goes(); status != http.StatusBadRequest {
			t.Errorf("%s can be gone on with: %d, %s", name, status, text)
		}
	}
	if entries, err := os.ReadDir(c.dir); err != nil || len(entries) > 0 {
		t.Errorf("there are %v, %v", entries, err)
	}
	large := make([]byte, maxUploadBytes+1)
	for _, r := range []struct {
		path, kind string
		body       []byte
		want       string
	}{
		{"/begin/table?name=a.csv", "application/octet-stream", large, "more than 32 MiB"},
		{"/begin/table?name=a.csv", "text/plain", []byte(messy), "this request is application/octet-stream"},
		{"/begin/table?name=a.csv", "application/octet-stream", []byte(" \n"), "nothing in the table"},
		{"/begin/answer", "text/plain", []byte("{}"), "this request is application/json"},
		{"/begin/answer", "application/json", []byte("{"), "cannot be read"},
		{"/begin/answer", "application/json", []byte(`{"do":"rm"}`), "an answer cannot be"},
		{"/begin/answer", "application/json", []byte(`{"do":"column","name":"x","value":"king"}`), "cannot be"},
		{"/begin/answer", "application/json", []byte(`{"do":"size","name":"x","value":"2 ells"}`), "cannot be"},
		{"/begin/answer", "application/json", []byte(`{"do":"goal","name":"x"}`), "cannot be read yet"},
		{"/begin/example", "application/json", []byte(`{"name":"../page"}`), "no example"},
		{"/begin/table?of=ingredients&name=a.csv", "application/octet-stream", nil, "nothing in the table"},
	} {
		if status, data := c.asks("POST", r.path, r.kind, r.body); status != http.StatusBadRequest || !strings.Contains(string(data), r.want) {
			t.Errorf("%s of %d bytes is answered with %d, %s; want %q", r.path, len(r.body), status, data, r.want)
		}
	}
	for given, want := range map[string]string{
		"../../etc/passwd": "passwd.csv", `C:\bar\My Drinks.XLSX`: "My-Drinks.csv", "": "recipes.csv", ".hidden.csv": "hidden.csv", "a/..": "recipes.csv",
		strings.Repeat("é", 500) + ".tsv": strings.Repeat("é", 30) + ".tsv", "a\x00b\n.tab": "a-b.tab", "book.json": "book.csv", "CON:x|y.txt": "CON-x-y.txt", "\xff\xfe.csv": "recipes.csv",
	} {
		if got := safeName(given, []byte("recipe,")); got != want {
			t.Errorf("%q is called %q, want %q", given, got, want)
		}
	}
}

// TestBeginBodies: a server with guard lets the page send tables, and nobody else.
func TestBeginBodies(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	begun := make(chan string, 1)
	ended := make(chan error, 1)
	dir := t.TempDir()
	go func() {
		ended <- ServeSetup(ctx, Options{Address: "127.0.0.1:0", OnReady: func(address, _ string) { begun <- address }}, SetupOptions{Dir: dir})
	}()
	address := <-begun
	root, _, _ := strings.Cut(address, "#")
	post := func(client *http.Client, origin string) (int, string) {
		r, err := http.NewRequestWithContext(ctx, "POST", root+"begin/table?name=bar.csv", strings.NewReader(messy))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/octet-stream")
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		w, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Body.Close()
		data, err := io.ReadAll(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		if policy := w.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") {
			t.Errorf("the policy is %q", policy)
		}
		return w.StatusCode, string(data)
	}
	if status, text := post(http.DefaultClient, ""); status != http.StatusForbidden {
		t.Errorf("without the secret it answers %d, %s", status, text)
	}
	client := opened(t, address)
	if status, text := post(client, "http://example.org"); status != http.StatusForbidden {
		t.Errorf("from another site it answers %d, %s", status, text)
	}
	if status, text := post(client, ""); status != http.StatusOK || !strings.Contains(text, "6 recipes") {
		t.Errorf("it answers %d, %s", status, text)
	}
	cancel()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("there are %v, %v", entries, err)
	}
}

// TestBeginExamples: each example can be gone on with as it is, and is that of the examples.
func TestBeginExamples(t *testing.T) {
	for _, e := range exampleNames() {
		c := newBeginner(t, SetupOptions{})
		v := c.sees("POST", "/begin/example", "application/json", []byte(`{"name":"`+e.Key+`"}`))
		if !v.Ready || len(v.Faults) > 0 {
			t.Errorf("%s: %+v", e.Key, v.Faults)
		}
		if status, text := c.goes(); status != http.StatusOK {
			t.Errorf("%s: %d, %s", e.Key, status, text)
		}
	}
	for own, shipped := range map[string]string{"drinks.csv": "recipes.csv", "drinks-ingredients.csv": "kinds.csv"} {
		a, err := exampleFiles.ReadFile("assets/examples/" + own)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join("..", "..", "examples", "cocktails", shipped))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s is not %s", own, shipped)
		}
	}
}

// TestSetupAsksWhatWasSet: columns that may be conditions are asked about, answered as their names tell; another answer
// changes what is written and what can be an objective.
func TestSetupAsksWhatWasSet(t *testing.T) {
	c := newBeginner(t, SetupOptions{})
	v := c.gives("ovens.csv", "Recipe,Flour,Water,heat,Bake time [min],pH,Taste\na,5,3,180,35,5.1,6\nb,6,3,170,30,5.3,7\nc,5,4,180,40,5.2,7\nd,4,4,175,45,5.6,5\n")
	question := func(v *SetupView, column string) *QuestionView {
		for k := range v.Questions {
			if v.Questions[k].Text == `"`+column+`": Did you set it, or measure it?` {
				return &v.Questions[k]
			}
		}
		t.Fatalf("%s is not asked about in %+v", column, v.Questions)
		return nil
	}
	if q := question(v, "Bake time [min]"); !q.Answers[0].Chosen || !strings.Contains(v.Text, "\n  \"Bake time [min]\": {values: [30, 35, 40, 45]}\n") {
		t.Errorf("it is answered %+v, and written %s", q, v.Text)
	}
	q := question(v, "pH")
	if q.Answers[0].Chosen || !q.Answers[1].Chosen {
		t.Errorf("pH is taken as %+v", q)
	}
	v = c.says(q.Answers[0].Send)
	if q = question(v, "pH"); !q.Answers[0].Chosen || !strings.Contains(v.Text, "\n  pH: {values: [5.1, 5.2, 5.3, 5.6]}\n") || strings.Contains(v.Text, "label: pH") {
		t.Errorf("once it was set: %+v, %s", q, v.Text)
	}
	v = c.says(question(v, "Bake time [min]").Answers[1].Send)
	if q = question(v, "Bake time [min]"); q.Answers[0].Chosen || strings.Contains(v.Text, "\n  \"Bake time [min]\": {values") || !strings.Contains(v.Text, "label: \"Bake time [min]\"") {
		t.Errorf("once it was measured: %+v, %s", q, v.Text)
	}
}

// TestSetupTellsWhatItWrote: a program that opens the page is told of the problem before its session
// begins, and may have the page name no paths, in an error neither.
func TestSetupTellsWhatItWrote(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{blocked, ""} {
		var c *beginner
		written, openedBefore := "", ""
		c = newBeginner(t, SetupOptions{Dir: dir, HidePaths: true, OnWritten: func(file string) { written, openedBefore = file, c.opened }})
		if v := c.gives("bar.csv", messy); v.ProblemPath != "" {
			t.Errorf("the page names %q", v.ProblemPath)
		}
		status, text := c.goes()
		if dir == blocked {
			if status != http.StatusBadRequest || strings.Contains(text, dir) || !strings.Contains(text, "cannot be stored") || written != "" {
				t.Errorf("where nothing can be written it says %d, %s, and tells of %q", status, text, written)
			}
			continue
		}
		if want := filepath.Join(c.dir, "bar", "problem.yaml"); status != http.StatusOK || written != want || openedBefore != "" || c.opened != want {
			t.Errorf("%d: told of %q, after the session of %q; want %q", status, written, openedBefore, want)
		}
	}
}

// TestModelsOfSetupStay: the session of a problem has the models that were learnt to check it.
func TestModelsOfSetupStay(t *testing.T) {
	o := Options{modelCache: new(compile.ModelCache), File: cocktails(t)}
	s, err := newSession(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if s.modelCache != o.modelCache {
		t.Error("the session learns its models anew")
	}
	if err := s.endAllWork(); err != nil {
		t.Fatal(err)
	}
}

// TestRecipesWithResult: a target says in how many recipes its result is known.
func TestRecipesWithResult(t *testing.T) {
	for _, c := range []struct {
		known, all int
		want       string
	}{{200, 200, "all 200 recipes"}, {60, 69, "60 of 69 recipes"}, {0, 1, "0 of 1 recipe"}} {
		if got := recipesWithResult(c.known, c.all); got != c.want {
			t.Errorf("%d of %d are %q, want %q", c.known, c.all, got, c.want)
		}
	}
}
