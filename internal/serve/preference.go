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
	// pairsFileName is the default name of the file that stores comparisons of two recipes.
	pairsFileName = "tasted.csv"
	// newPreferenceName is the name of the property that the page adds to a problem to learn from
	// comparisons of recipes.
	newPreferenceName = "liking"
	// maxPairsBytes is the maximum size, in bytes, of a file of comparisons.
	maxPairsBytes = 16 << 20
	// candidatePairCount is the number of random pairs of recipes that are examined to choose the next
	// question.
	candidatePairCount = 400
)

// A Question asks the user which of two recipes is better.
type Question struct {
	A             map[string]int `json:"a"`        // first recipe: maps the name of an ingredient to the amount in units
	B             map[string]int `json:"b"`        // second recipe: maps the name of an ingredient to the amount in units
	ComparedPairs int            `json:"asked"`    // number of pairs that the user has compared
	Expected      float64        `json:"expected"` // predicted probability that A is preferred; 0.5 before the first answer
	Certainty     string         `json:"about"`    // how well the preference is known, in words
}

// respondWithQuestion responds with the next pair of recipes to compare. The comparison of this pair is
// expected to tell most about the preference. The recipes are draws or known recipes.
func (s *Session) respondWithQuestion(r *http.Request) (any, error) {
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
		q.ComparedPairs, q.Certainty = preference.HeldOut.Pairs, preference.About
	}
	var learnt *property.PreferencePosterior
	if preference != nil {
		learnt = preference.Posterior
	}
	a, b := chooseQuestion(learnt, pool, mcmc.NewRand(p.Sampler.Seed, "pair to ask", uint64(q.ComparedPairs)))
	if a == nil {
		return nil, &inputerr.Error{Message: "all draws are the same: there is nothing to compare"}
	}
	if preference != nil {
		q.Expected = preference.Posterior.PreferenceProbability(a, b)
	}
	q.A, q.B = w.amountsByName(a), w.amountsByName(b)
	return q, nil
}

// chooseQuestion returns a pair of different recipes from the pool. Among [candidatePairCount]
// random pairs, it is the pair whose comparison gives most information. If nothing was compared
// yet, it is any pair. The recipes are nil if all recipes of the pool are equal.
func chooseQuestion(posterior *property.PreferencePosterior, pool []*mcmc.Composition, r *mcmc.Rand) (a, b *mcmc.Composition) {
	best := -1.0
	for range candidatePairCount {
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

// preferenceProperty returns the property of a problem that is learnt from comparisons of recipes,
// or nil if there is none.
func preferenceProperty(p *compile.Problem) *compile.Property {
	for k := range p.Properties {
		if p.Properties[k].Posterior != nil {
			return &p.Properties[k]
		}
	}
	return nil
}

// amountsByName returns a map from the name of each ingredient of a composition to the amount in
// units.
func (w *stepWork) amountsByName(x *mcmc.Composition) map[string]int {
	out := make(map[string]int)
	for _, part := range x.Parts() {
		out[w.problem.Ingredients[part.Ingredient]] = part.Amount
	}
	return out
}

// comparisonStepPrefix is the first part of the description of a step that was made by comparisons.
// Successive comparisons share one step, so the user need not go back many steps.
const comparisonStepPrefix = "compared "

// recordPreference records that the user prefers one recipe to another, and makes a step that
// learns from the comparison. The text of the step says how many pairs of the file count. If the
// user goes back to an earlier step, fewer pairs count again.
func (s *Session) recordPreference(better, worse map[string]int) error {
	if len(better) == 0 || len(worse) == 0 || maps.Equal(better, worse) {
		return &inputerr.Error{Message: "there are no two different recipes to compare"}
	}
	s.mu.Lock()
	now := *s.history.currentStep()
	s.mu.Unlock()
	root, err := yaml.Parse(s.problemPath, []byte(now.Text))
	if err != nil {
		return err
	}
	name, pairsFile, first := findPreferenceProperty(root)
	begun := name != ""
	if !begun {
		name, pairsFile = newPreferenceName, pairsFileName
		for n := root.Get("properties"); n != nil && n.Get(name) != nil; {
			name += " too"
		}
	}
	path := filepath.Join(s.problemDir, pairsFile)
	if filepath.IsAbs(pairsFile) {
		path = pairsFile
	}
	if err := s.checkWritable(path); err != nil {
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
	if err := s.makePairCountStep(now, name, pairsFile, begun, pairs); err != nil {
		// Remove the pair again, so that it does not count in the next step either.
		if before == nil {
			return errors.Join(err, os.Remove(path))
		}
		return errors.Join(err, file.Replace(path, before))
	}
	return nil
}

// makePairCountStep makes a step that learns from the first pairs of a file. If propertyExists is
// false, the step also has a new property for the preference.
func (s *Session) makePairCountStep(current Step, name, file string, propertyExists bool, pairs int) error {
	// Only the first pairs count. Pairs that were taken back are no longer in the file behind
	// them.
	var changes []change.Change
	if propertyExists {
		changes = append(changes, change.Setting{Path: []string{"properties", name, "preference", "first"}, Value: pairs})
	} else {
		var of yaml.Map
		of.Set("pairs", file)
		w := s.currentWork()
		if _, _, err := w.loaded(); err == nil && w.groups.attributeName != "" {
			of.Set("groups", w.groups.attributeName)
		}
		of.Set("first", pairs)
		var m yaml.Map
		m.Set("preference", of)
		changes = append(changes, change.Setting{Path: []string{"properties", name}, Value: m})
	}
	words := comparisonStepPrefix + number.CountWithNoun(pairs, "pair")
	if !strings.HasPrefix(current.Change, comparisonStepPrefix) || current.Name != "" || s.hasChildSteps(current.ID) {
		return s.applyChanges(words, changes...)
	}
	text, err := change.Apply(filepath.Base(s.problemPath), []byte(current.Text), changes...)
	if err != nil {
		return err
	}
	return s.replaceStepText(current.ID, words, string(text))
}

// findPreferenceProperty returns the name of the problem's property that is learnt from
// comparisons, the name of the file of comparisons, and how many pairs of the file count. If there
// is no such property, the name is empty. If pairCount is 0, all pairs count.
func findPreferenceProperty(root *yaml.Node) (name, pairsFile string, pairCount int) {
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
			pairCount, _ = strconv.Atoi(v.Text) // reading the problem reports an invalid number
		}
		return e.Key.Text, p.Get("pairs").Text, pairCount
	}
	return "", "", 0
}

// appendPair adds a pair to a file of comparisons and returns the new number of pairs. Only the
// first currentPairs pairs of the file still count, or all pairs if currentPairs is 0. The user
// took back the later pairs by going to an earlier step. They are saved in a copy of the file, and
// the new pair replaces them.
func appendPair(path string, currentPairs int, better, worse map[string]int) (pairCount int, err error) {
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
		if currentPairs == 0 || len(names) <= currentPairs {
			kept = append(kept, row)
		} else {
			taken = true
		}
	}
	if currentPairs == 0 {
		currentPairs = len(names)
	}
	if currentPairs = min(currentPairs, len(names)); currentPairs >= property.MaxPairs {
		return 0, tooManyPairsError(path)
	}
	if taken {
		if err := file.Replace(path+".before", data); err != nil {
			return 0, err
		}
	}
	next := 1
	for _, name := range names[:currentPairs] {
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
		return 0, tooManyPairsError(path)
	}
	return currentPairs + 1, file.Replace(path, b.Bytes())
}

// tooManyPairsError returns the error for a file of comparisons that is already full.
func tooManyPairsError(path string) error {
	return &inputerr.Error{File: path, Message: "the file of comparisons is full", Hint: "serve a problem with another file of pairs, or go back to a step with fewer"}
}

// hasChildSteps reports whether another step was made from the step with the given id.
func (s *Session) hasChildSteps(id int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.history.Steps, func(step Step) bool { return step.Parent == id })
}

// replaceStepText replaces the text and the description of a step. The number of steps stays the
// same.
func (s *Session) replaceStepText(id int, description, text string) error {
	err := s.changeHistory(func(h *history) error {
		step, err := h.findStep(id)
		if err == nil {
			step.Change, step.Text = description, text
		}
		return err
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	if w := s.workByStep[id]; w != nil && w != s.currentStepWork {
		delete(s.workByStep, id)
	}
	s.mu.Unlock()
	s.restartWork()
	return s.publishState()
}
