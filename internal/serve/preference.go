package serve

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"kir/internal/compile"
	"kir/internal/config/change"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/file"
	"kir/internal/inputerr"
	"kir/internal/number"
	"kir/mcmc"
	"kir/property"
)

const (
	// pairsFileName is the name of a new file of comparisons.
	pairsFileName = "tasted.csv"
	// preferenceName is the page's name for the learnt property.
	preferenceName = "liking"
	// maxPairsBytes is the greatest size of a file of comparisons.
	maxPairsBytes = 16 << 20
	// triedPairs is the number of pairs from which the next question is chosen.
	triedPairs = 400
)

// A Question is a pair of recipes to compare.
type Question struct {
	A         map[string]int `json:"a"` // units
	B         map[string]int `json:"b"`
	Asked     int            `json:"asked"`    // number of answers so far
	Expected  float64        `json:"expected"` // probability that A is preferred; 0.5 without any answer
	Certainty string         `json:"about"`    // how well the preference is known
}

// answerPair responds with the pair to compare next, the one whose answer is most informative.
// Candidates are draws, known recipes and the shortlist.
func (s *Session) answerPair(r *http.Request) (any, error) {
	w, p, kept, err := s.waitForDraws(r.Context())
	if err != nil {
		return nil, err
	}
	var pool []*mcmc.Composition
	for _, d := range slices.Concat(kept...) {
		x, err := mcmc.NewComposition(len(p.Ingredients), d.parts...)
		if err != nil {
			return nil, err
		}
		pool = append(pool, x)
	}
	known, err := p.KnownRecipes()
	if err != nil {
		return nil, err
	}
	for _, x := range known {
		// Add about a third as many known recipes as draws, whatever the rules are, because
		// somebody may have tasted them.
		for range max(1, len(pool)/max(1, 3*len(known))) {
			pool = append(pool, x)
		}
	}
	if len(pool) < 2 {
		return nil, &inputerr.Error{Message: "there are no draws yet"}
	}
	preference := preferenceProperty(p)
	q := &Question{Expected: 0.5}
	if preference != nil {
		q.Asked, q.Certainty = preference.HeldOut.Pairs, preference.About
	}
	var learnt *property.PreferencePosterior
	if preference != nil {
		learnt = preference.Posterior
	}
	a, b := askNext(learnt, pool, mcmc.NewRand(p.Sampler.Seed, "pair to ask", uint64(q.Asked)))
	if a == nil {
		return nil, &inputerr.Error{Message: "all draws are the same: there is nothing to compare"}
	}
	if preference != nil {
		q.Expected = preference.Posterior.PreferenceProbability(a, b)
	}
	q.A, q.B = w.namedAmounts(a), w.namedAmounts(b)
	return q, nil
}

// askNext returns the pair whose answer is most informative, among triedPairs random pairs of
// a pool. Before any answer it returns any pair, and nil if all recipes are equal.
func askNext(posterior *property.PreferencePosterior, pool []*mcmc.Composition, r *mcmc.Rand) (a, b *mcmc.Composition) {
	best := -1.0
	for range triedPairs {
		x, y := pool[r.Intn(len(pool))], pool[r.Intn(len(pool))]
		if x.Equal(y) {
			continue
		}
		if posterior == nil {
			return x, y
		}
		if gain := posterior.Information(x, y); gain > best {
			best, a, b = gain, x, y
		}
	}
	return a, b
}

// preferenceProperty returns the property that is learnt from comparisons, or nil.
func preferenceProperty(p *compile.Problem) *compile.Property {
	for k := range p.Properties {
		if p.Properties[k].Posterior != nil {
			return &p.Properties[k]
		}
	}
	return nil
}

// namedAmounts returns the amounts of a composition by the name of the ingredient.
func (w *work) namedAmounts(x *mcmc.Composition) map[string]int {
	out := make(map[string]int)
	for _, part := range x.Parts() {
		out[w.problem.Ingredients[part.Ingredient]] = part.Amount
	}
	return out
}

// comparedPrefix begins the description of a step made by comparisons. Successive answers
// share one step, so that twenty answers are not twenty steps back.
const comparedPrefix = "compared "

// recordPreference records that one recipe is preferred to another and learns from it. The
// file only grows. The step's text says how many of its pairs count, so that going back works.
func (s *Session) recordPreference(better, worse map[string]int) error {
	if len(better) == 0 || len(worse) == 0 || maps.Equal(better, worse) {
		return &inputerr.Error{Message: "there are no two different recipes to compare"}
	}
	s.mu.Lock()
	now := *s.history.current()
	s.mu.Unlock()
	root, err := yaml.Parse(s.file, []byte(now.Text))
	if err != nil {
		return err
	}
	name, pairsFile, first := findPreference(root)
	begun := name != ""
	if !begun {
		name, pairsFile = preferenceName, pairsFileName
		for n := root.Get("properties"); n != nil && n.Get(name) != nil; {
			name += " too"
		}
	}
	path := filepath.Join(s.dir, pairsFile)
	if filepath.IsAbs(pairsFile) {
		path = pairsFile
	}
	if err := s.mayWrite(path); err != nil {
		return &inputerr.Error{Message: fmt.Sprintf("%s: %v", inputerr.Quote(pairsFile), err), Hint: "name a file beside the problem"}
	}
	before, err := file.Read(path, maxPairsBytes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	pairs, err := appendPair(path, first, better, worse)
	if err != nil {
		return err
	}
	if err := s.setPairCount(now, name, pairsFile, begun, pairs); err != nil {
		// Remove the pair again, so that it does not count in the next step either.
		if before == nil {
			return errors.Join(err, os.Remove(path))
		}
		return errors.Join(err, file.Replace(path, before))
	}
	return nil
}

// setPairCount makes a step that learns from the given number of pairs.
func (s *Session) setPairCount(now Step, name, file string, begun bool, pairs int) error {
	// Only the first pairs count. Pairs that were taken back are no longer in the file behind
	// them.
	var changes []change.Change
	if begun {
		changes = append(changes, change.Setting{Path: []string{"properties", name, "preference", "first"}, Value: pairs})
	} else {
		var of yaml.Map
		of.Set("pairs", file)
		if w, _, _, err := s.currentWork(); err == nil && w.groups.attribute != "" {
			of.Set("groups", w.groups.attribute)
		}
		of.Set("first", pairs)
		var m yaml.Map
		m.Set("preference", of)
		changes = append(changes, change.Setting{Path: []string{"properties", name}, Value: m})
	}
	words := comparedPrefix + number.Counted(pairs, "pair")
	if !strings.HasPrefix(now.Change, comparedPrefix) || now.Name != "" || s.hasChildren(now.ID) {
		return s.change(words, changes...)
	}
	text, err := change.Apply(filepath.Base(s.file), []byte(now.Text), changes...)
	if err != nil {
		return err
	}
	return s.amend(now.ID, words, string(text))
}

// findPreference returns the name, the file and the number of pairs of a problem's preference.
// The name is empty if there is none. 0 pairs means that all in the file count.
func findPreference(root *yaml.Node) (name, file string, first int) {
	n := root.Get("properties")
	if n == nil {
		return "", "", 0
	}
	for _, e := range n.Entries {
		p := e.Value.Get("preference")
		if p == nil || p.Get("pairs") == nil {
			continue
		}
		if v := p.Get("first"); v != nil {
			first, _ = strconv.Atoi(v.Text) // reading the problem reports an invalid number
		}
		return e.Key.Text, p.Get("pairs").Text, first
	}
	return "", "", 0
}

// appendPair appends a pair to a file of comparisons, after the first ones that count, and
// returns the new number of pairs. All pairs count if first is 0. Pairs after the first ones
// were taken back; appendPair saves them in a copy of the file.
func appendPair(path string, first int, better, worse map[string]int) (pairs int, err error) {
	data, err := file.Read(path, maxPairsBytes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	rows := [][]string{{"pair", "choice", "ingredient", "amount"}}
	switch read, err := csv.NewReader(bytes.NewReader(data)).ReadAll(); {
	case err != nil || len(read) > 0 && len(read[0]) != 4:
		return 0, &inputerr.Error{File: path, Message: "this is no file of comparisons", Err: err}
	case len(read) > 0:
		rows = read
	}
	var names []string
	kept := rows[:1:1]
	taken := false
	for _, row := range rows[1:] {
		if !slices.Contains(names, row[0]) {
			names = append(names, row[0])
		}
		if first == 0 || len(names) <= first {
			kept = append(kept, row)
		} else {
			taken = true
		}
	}
	if first == 0 {
		first = len(names)
	}
	if first = min(first, len(names)); first >= property.MaxPairs {
		return 0, fullOfPairs(path)
	}
	if taken {
		if err := file.Replace(path+".before", data); err != nil {
			return 0, err
		}
	}
	next := 1
	for _, name := range names[:first] {
		if n, err := strconv.Atoi(name); err == nil {
			next = max(next, n+1)
		}
	}
	for _, side := range []struct {
		choice string
		recipe map[string]int
	}{{"better", better}, {"worse", worse}} {
		names := slices.SortedFunc(maps.Keys(side.recipe), func(a, b string) int {
			return cmp.Or(cmp.Compare(side.recipe[b], side.recipe[a]), strings.Compare(a, b))
		})
		for _, name := range names {
			if side.recipe[name] < 1 {
				return 0, &inputerr.Error{Message: fmt.Sprintf("the amount of %s is %d", inputerr.Quote(name), side.recipe[name])}
			}
			kept = append(kept, []string{strconv.Itoa(next), side.choice, dataset.EscapeCell(name), strconv.Itoa(side.recipe[name])})
		}
	}
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(kept); err != nil {
		return 0, err
	}
	if b.Len() > maxPairsBytes {
		return 0, fullOfPairs(path)
	}
	return first + 1, file.Replace(path, b.Bytes())
}

// fullOfPairs returns the error for a full file of comparisons.
func fullOfPairs(path string) error {
	return &inputerr.Error{File: path, Message: "no more comparisons can be kept: the file has all that are learnt from", Hint: "serve a problem with another file of pairs, or go back to a step with fewer"}
}

// hasChildren reports whether another step was made from a step.
func (s *Session) hasChildren(id int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.history.Steps, func(step Step) bool { return step.Parent == id })
}

// amend replaces the text of a step.
func (s *Session) amend(id int, words, text string) error {
	err := s.changeHistory(func(h *history) error {
		step, err := h.step(id)
		if err == nil {
			step.Change, step.Text = words, text
		}
		return err
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	if w := s.workByStep[id]; w != nil && w != s.work {
		delete(s.workByStep, id)
	}
	s.mu.Unlock()
	s.restartWork()
	return s.publishState()
}
