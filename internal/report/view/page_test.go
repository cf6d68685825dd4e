package view

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"kir/internal/report"
	"kir/internal/run"
	"kir/internal/search"
)

// checkPage verifies what holds for every page: it needs nothing else, its
// policy allows its own style and script and nothing more, nothing in it can
// act but that script, and identifiers are there once.
func checkPage(t *testing.T, page string) {
	t.Helper()
	find := func(pattern string) []string {
		m := regexp.MustCompile(pattern).FindStringSubmatch(page)
		if m == nil {
			t.Fatalf("there is no %s", pattern)
		}
		return m
	}
	policy := strings.NewReplacer("&#39;", "'", "&#43;", "+", "&#34;", `"`).Replace(find(`http-equiv="Content-Security-Policy" content="([^"]*)"`)[1])
	for _, of := range []string{"style", "script"} {
		text := find(`(?s)<` + of + `>(.*?)</` + of + `>`)[1]
		sum := sha256.Sum256([]byte(text))
		if hash := of + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, hash) {
			t.Errorf("the policy %s does not allow the %s: %s", policy, of, hash)
		}
		if n := strings.Count(page, "<"+of); n != 1 {
			t.Errorf("there are %d of %s", n, of)
		}
	}
	if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %s", policy)
	}
	tags := regexp.MustCompile(`<[a-zA-Z][^>]*>`).FindAllString(page, -1)
	ids := make(map[string]bool)
	for _, tag := range tags {
		for _, a := range regexp.MustCompile(`\s([a-zA-Z-]+)="([^"]*)"`).FindAllStringSubmatch(tag, -1) {
			name, value := strings.ToLower(a[1]), a[2]
			switch {
			case strings.HasPrefix(name, "on") || name == "style" || name == "src" || name == "srcset" || name == "action":
				t.Errorf("%s acts", tag)
			case name == "href" && !strings.HasPrefix(value, "#") && value != "data:,":
				t.Errorf("%s leads elsewhere", tag)
			case name == "id" && ids[value]:
				t.Errorf("%s is there twice", tag)
			case name == "id":
				ids[value] = true
			}
		}
	}
	for _, link := range regexp.MustCompile(`href="#([^"]*)"|aria-labelledby="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		for _, id := range strings.Fields(link[1] + link[2]) {
			if !ids[id] {
				t.Errorf("%s leads nowhere", link[0])
			}
		}
	}
}

// Text of a book stays text on the page, in attributes and in figures.
func TestNamesAreText(t *testing.T) {
	const bad = `"><img src=x onerror=alert(1)><script>alert(2)</script>`
	m := cocktails(t).model
	rename := func(s string) string { return s + bad }
	m.Problem.Name = rename(m.Problem.Name)
	m.Problem.Rules = []string{bad}
	m.Question, m.Verdict, m.Version = rename(m.Question), rename(m.Verdict), rename(m.Version)
	m.Warnings = []string{bad}
	m.Again = report.Reproduction{Command: bad, Problem: bad}
	m.Answer.Headline, m.Answer.Verdict, m.Answer.Warnings, m.Draws = bad, []string{bad}, []string{bad}, bad
	m.Inputs[0].Path, m.Inputs[0].SHA256 = bad, bad
	for k := range m.Inclusion {
		m.Inclusion[k].Ingredient = rename(m.Inclusion[k].Ingredient)
	}
	for k := range m.Pairs.Together {
		m.Pairs.Together[k].First, m.Pairs.Together[k].Second = bad, bad
	}
	for k := range m.Moves {
		m.Moves[k].Name = bad
	}
	{
		list := m.Best
		for k := range list {
			recipe := make(map[string]int)
			for name, amount := range list[k].Recipe {
				recipe[rename(name)] = amount
			}
			list[k].Recipe = recipe
			list[k].Ranges = map[string]search.Range{bad: {High: 1}}
			list[k].Variants = []report.Variant{{Without: []string{bad}, With: map[string]int{bad: 1}}}
			list[k].Predicted = map[string]report.Prediction{bad: {}}
			list[k].Slack = []report.Slack{{Unit: bad, Ingredient: bad, Max: 3}}
			for q := range list[k].Nearest {
				list[k].Nearest[q].Recipe, list[k].Nearest[q].Shared = bad, []string{bad, bad}
			}
		}
	}
	for k := range m.Properties {
		w := &m.Properties[k]
		m.Statistics[rename(w.Name)] = m.Statistics[w.Name]
		for _, b := range m.Best {
			b.Scores[rename(w.Name)] = b.Scores[w.Name]
		}
		w.Name, w.About = rename(w.Name), rename(w.About)
		w.Forest.Quality.Classes.Majority = bad
		for q := range w.Forest.Classes {
			w.Forest.Classes[q] = rename(w.Forest.Classes[q])
		}
		for q := range w.Forest.Importances {
			w.Forest.Importances[q].Feature = bad
		}
	}
	for k := range m.Answer.Objectives {
		m.Answer.Objectives[k].Name, m.Answer.Objectives[k].Strength, m.Answer.Objectives[k].Unit = bad, bad, bad
	}
	for k := range m.Plots {
		m.Plots[k].Name = rename(m.Plots[k].Name)
	}
	var b bytes.Buffer
	if err := Page(&b, m); err != nil {
		t.Fatal(err)
	}
	checkPage(t, b.String())
	for _, never := range []string{"<img", "<script>alert"} {
		if strings.Contains(b.String(), never) {
			at := strings.Index(b.String(), never)
			t.Errorf("%s is on the page: %s", never, b.String()[max(0, at-100):at+40])
		}
	}
}

// What cannot be seen, or turns text around, is shown for what it is.
func TestShown(t *testing.T) {
	for text, want := range map[string]string{
		"plain":              "plain",
		"عصير الليمون":       "عصير الليمون",
		"می\u200cخواهم":      "می\u200cخواهم", // a joiner belongs to the spelling
		"\u202egnp.exe":      `\u202egnp.exe`,
		"\u2067x\u2069":      `\u2067x\u2069`,
		"a\x07b\x1b[31m":     `a\ab\x1b[31m`,
		"line one\nline two": "line one\nline two",
	} {
		if got := Shown(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

// A page is light enough to mail, and quickly written: that of the cocktails weighs
// less than 1.5 MB and takes less than a second, and that of 2,000 ingredients in
// eight chains weighs less than 5 MB. Neither depends on the number of draws.
func TestPageIsLight(t *testing.T) {
	for _, c := range []struct {
		name  string
		model *report.Model
		most  int
	}{
		{"cocktails", cocktails(t).model, 1_500_000},
		{"2,000 ingredients", sample(t, map[string]string{
			"problem.yaml": "total: 1000\ningredients: {count: 2000}\nsparsity: {uniform: [36, 42]}\nproperties: {a: {expression: \"0.1 + share('ingredient 1')\"}}\nsampler: {kernel: balanced, chains: 8, warmup: 100, draws: 400}\n",
		}).model, 5_000_000},
	} {
		var page bytes.Buffer
		quickest := time.Duration(math.MaxInt64)
		times := 1
		if c.name == "cocktails" {
			times = 3 // of which the machine may be busy with something else
		}
		for range times {
			page.Reset()
			start := time.Now()
			if err := Page(&page, c.model); err != nil {
				t.Fatal(err)
			}
			quickest = min(quickest, time.Since(start))
		}
		t.Logf("%s: %d bytes in %v", c.name, page.Len(), quickest)
		if page.Len() > c.most {
			t.Errorf("the page of %s has %d bytes, want at most %d", c.name, page.Len(), c.most)
		}
		if c.name == "cocktails" && quickest > time.Second {
			t.Errorf("writing the page of %s takes %v", c.name, quickest)
		}
	}
}

// TestPageIsFresh: a page is of the draws that its model was, or not, or cannot be read.
func TestPageIsFresh(t *testing.T) {
	dir := t.TempDir()
	store, m := run.NewDirectoryStore(dir), madeOf[report.Model](t, "summary.json")
	m.Parts = []run.PartFile{{Name: "draws/a&b", SHA256: "1234"}, {Name: "draws/c", SHA256: "5678"}}
	fresh := func(what string, want bool) {
		t.Helper()
		if is, err := PageIsFresh(t.Context(), store, m); is != want || err != nil {
			t.Errorf("%s: it is fresh: %v, %v", what, is, err)
		}
	}
	fresh("without a page", false)
	if err := SavePage(t.Context(), store, m); err != nil {
		t.Fatal(err)
	}
	fresh("its own", true)
	if data, err := os.ReadFile(filepath.Join(dir, PageName)); err != nil || !IsPage(data) || IsPage(data[:20]) {
		t.Errorf("it is no page: %v", err)
	}
	m.Parts[1].SHA256 = "5679"
	fresh("of other draws", false)
	if err := errors.Join(os.Remove(filepath.Join(dir, PageName)), os.Mkdir(filepath.Join(dir, PageName), 0o777)); err != nil {
		t.Fatal(err)
	}
	if is, err := PageIsFresh(t.Context(), store, m); is || err == nil {
		t.Errorf("a directory is a page: %v, %v", is, err)
	}
}
