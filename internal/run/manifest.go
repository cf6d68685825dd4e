package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"kir/internal/terminal"
	"kir/mcmc"
)

// manifestFormat is the version of the layout of a run's files.
const manifestFormat = 2

// Names of files of a run; see the package's documentation.
const (
	manifestName = "run.json"
	problemName  = "problem.yaml"
)

// A Manifest describes a run. It is stored as run.json.
type Manifest struct {
	Format      int            `json:"format"`
	Run         string         `json:"run"`     // identifier of the run, independent of the number of draws
	Version     string         `json:"version"` // version of the program
	Name        string         `json:"name"`
	Problem     string         `json:"problem,omitempty"` // path of the problem file, as in [Spec]; does not affect Run
	Place       string         `json:"place,omitempty"`   // absolute path of the problem file, as in [Spec]; does not affect Run
	Settings    mcmc.Settings  `json:"sampler"`           // settings of the sampler
	Auto        *Auto          `json:"auto,omitempty"`    // length of a run of [mcmc.AutoDraws], else nil; Settings holds the final number of draws once the run has stopped
	Effort      *float64       `json:"effort,omitempty"`  // length of the search as a multiple of the usual length; nil without a search; does not affect Run
	Total       int            `json:"total"`             // number of units M in a composition
	Properties  []string       `json:"properties"`        // names of the properties
	Target      string         `json:"target_sha256"`     // SHA-256 of the target; see [targetFingerprint]
	Inputs      []Input        `json:"inputs"`
	Ingredients []string       `json:"ingredients,omitempty"` // names of the ingredients; nil if Counted is set
	Counted     *NumberedNames `json:"counted,omitempty"`     // rule for the names of the ingredients; nil if Ingredients is set
	Conditions  []Condition    `json:"conditions,omitempty"`
	Checksum    string         `json:"checksum"` // checksum that [Seal] fills in when the manifest is written; empty before
}

// newManifest returns the manifest of a new run.
func newManifest(s *Spec) (*Manifest, error) {
	target, err := targetFingerprint(s)
	if err != nil {
		return nil, err
	}
	m := &Manifest{
		Format:     manifestFormat,
		Version:    s.Version,
		Name:       s.Name,
		Problem:    s.ProblemPath,
		Place:      s.AbsoluteProblemPath,
		Settings:   s.Settings,
		Total:      s.Target.Space().Total(),
		Properties: s.propertyNames(),
		Target:     target,
		Inputs:     slices.Clone(s.Inputs),
		Counted:    detectNumberedNames(s.Ingredients),
		Conditions: s.Conditions,
	}
	if m.Counted == nil {
		m.Ingredients = s.Ingredients
	}
	if s.Settings.Draws == mcmc.AutoDraws {
		m.Auto = &Auto{Seconds: s.TimeLimit.Seconds(), WantedESS: max(minStatisticESS, minESSPerChain*s.Settings.Chains), MaxWarmupIterations: s.Settings.Warmup}
	}
	if s.Question != nil {
		m.Effort = &s.Question.Effort
	}
	m.Run = m.identity()
	return m, nil
}

// identity returns a hash that identifies a run by everything that determines its draws. Runs that
// differ only in their length have the same hash.
func (m *Manifest) identity() string {
	settings := m.Settings
	settings.Draws = 0
	if m.Auto != nil {
		settings.Warmup, settings.Thin = m.Auto.MaxWarmupIterations, 0 // these follow from the draws
	}
	b, err := json.Marshal(struct {
		Version                 string
		Settings                mcmc.Settings
		Total                   int
		Properties, Ingredients []string
		Target                  string
		Inputs                  []Input
		Counted                 *NumberedNames `json:",omitempty"`
		Conditions              []Condition    `json:",omitempty"`
	}{m.Version, settings, m.Total, m.Properties, m.Ingredients, m.Target, m.Inputs, m.Counted, m.Conditions})
	if err != nil {
		panic("run: a manifest cannot be written: " + err.Error()) // it holds strings and integers
	}
	return hexSHA256(b)
}

func hexSHA256(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func (m *Manifest) encode() ([]byte, error) {
	open := *m
	open.Checksum = ""
	b, err := json.MarshalIndent(&open, "", "  ")
	if err != nil {
		return nil, err
	}
	return Seal(append(b, '\n')), nil
}

// readManifest reads the manifest of the run in a store.
func readManifest(ctx context.Context, store Store) (*Manifest, error) {
	m, err := readManifestFile(ctx, store, manifestName)
	if err != nil || !m.isDrawCountOpen() {
		return m, err
	}
	fixed, err := readManifestFile(ctx, store, fixedLengthName)
	if err == nil && fixed.Run == m.Run && !fixed.isDrawCountOpen() {
		return fixed, nil
	}
	return m, nil // where the file is absent or damaged, the length is determined again from the draws
}

// readManifestFile reads a manifest from the file of the given name.
func readManifestFile(ctx context.Context, store Store, manifestName string) (*Manifest, error) {
	b, err := ReadWhole(ctx, store, manifestName, maxManifestBytes)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			if d, ok := store.(*directoryStore); ok && isUnusedDirectory(d.Location()) {
				err = fmt.Errorf("nothing is stored in it yet: wait if a process has just begun, else start it again with `kir sample PROBLEM -o %s`", terminal.ShellWord(d.Location()))
			}
			return nil, &NotRunError{Dir: store.Location(), Err: err}
		}
		return nil, err
	}
	name := store.Path(manifestName)
	m := new(Manifest)
	if err := UnmarshalDocument(b, m); err != nil {
		return nil, &NotRunError{Dir: store.Location(), Err: fmt.Errorf("%s: %w", name, err)}
	}
	invalid := func(what string) (*Manifest, error) {
		return nil, &NotRunError{Dir: store.Location(), Err: fmt.Errorf("%s: %s", name, what)}
	}
	auto := m.Auto != nil && m.Auto.Stop == ""
	if m.Auto != nil && m.Auto.MaxWarmupIterations == 0 {
		m.Auto.MaxWarmupIterations = m.Settings.Warmup // of a run whose warm-up had no rounds
	}
	switch {
	case m.Format != manifestFormat:
		return invalid(fmt.Sprintf("it was made by another version of kir, in format %d, and this one reads %d: make the run anew with kir sample", m.Format, manifestFormat))
	case checkSettings(m.Settings) != nil, (m.Settings.Draws == mcmc.AutoDraws) != auto,
		m.Auto != nil && (m.Auto.WarmupIterations < 0 || m.Auto.WarmupIterations > m.Auto.MaxWarmupIterations || m.Auto.MaxWarmupIterations > mcmc.MaxIterations):
		return invalid("the settings of the sampler are none that a run can have")
	case m.Total < 1 || m.IngredientCount() < 1 || m.IngredientCount() > math.MaxInt32 || m.Counted != nil && m.Counted.Count > maxNumberedNames:
		return invalid("it has no total or no ingredients")
	case m.Run != m.identity() || CheckSeal(b) != nil:
		return invalid("it was changed since it was written")
	}
	return m, nil
}

// checkSameRun returns a [ChangedError] if a run that was started with the manifest m cannot
// continue with the manifest now. The parameter dir is the location of the run, for the error.
func (m *Manifest) checkSameRun(dir string, current *Manifest) error {
	changed := func(what, was, now, way string) error {
		return &ChangedError{Dir: dir, What: what, Was: was, Now: now, Advice: way}
	}
	const anew = "put it back, or start a new run"
	if m.Version != current.Version {
		return changed("the version of the program", m.Version, current.Version, "use the version that it was started with, or start a new run")
	}
	short := func(i Input) string { return fmt.Sprintf("%d bytes with SHA-256 %.12s…", i.Bytes, i.SHA256) }
	for _, was := range m.Inputs {
		at := slices.IndexFunc(current.Inputs, func(i Input) bool { return i.Path == was.Path })
		if at < 0 {
			return changed("the input "+was.Path, "being used", "not being used", anew)
		}
		if current.Inputs[at] != was {
			return changed("the input "+was.Path, short(was), short(current.Inputs[at]), anew)
		}
	}
	for _, now := range current.Inputs {
		if !slices.ContainsFunc(m.Inputs, func(i Input) bool { return i.Path == now.Path }) {
			return changed("the input "+now.Path, "not being used", "being used", anew)
		}
	}
	for _, c := range []struct {
		what     string
		was, now any
	}{
		{"draws: auto", m.Auto != nil, current.Auto != nil},
		{"the kernel", m.Settings.Kernel, current.Settings.Kernel},
		{"the number of chains", m.Settings.Chains, current.Settings.Chains},
		{"the warm-up", m.Settings.Warmup, current.Settings.Warmup},
		{"thin", m.Settings.Thin, current.Settings.Thin},
		{"the seed", m.Settings.Seed, current.Settings.Seed},
		{"the total", m.Total, current.Total},
		{"the number of ingredients", m.IngredientCount(), current.IngredientCount()},
		{"the properties", strings.Join(m.Properties, ", "), strings.Join(current.Properties, ", ")},
	} {
		if c.was != c.now {
			return changed(c.what, fmt.Sprint(c.was), fmt.Sprint(c.now), anew)
		}
	}
	if m.Counted == nil || current.Counted == nil || *m.Counted != *current.Counted {
		for k := range m.IngredientCount() {
			if was, now := m.Ingredient(k), current.Ingredient(k); was != now {
				return changed(fmt.Sprintf("ingredient %d", k+1), fmt.Sprintf("%q", was), fmt.Sprintf("%q", now), anew)
			}
		}
	}
	if m.Target != current.Target {
		return changed("the target (its law of n, its properties or their weights)", fmt.Sprintf("%.12s…", m.Target), fmt.Sprintf("%.12s…", current.Target), anew)
	}
	return nil
}

// IngredientCount returns the number of ingredients.
func (m *Manifest) IngredientCount() int {
	if m.Counted != nil {
		return m.Counted.Count
	}
	return len(m.Ingredients)
}

// Ingredient returns the name of ingredient i.
func (m *Manifest) Ingredient(i int) string {
	if m.Counted != nil {
		return m.Counted.name(i)
	}
	return m.Ingredients[i]
}

// IngredientNames returns the names of all ingredients.
func (m *Manifest) IngredientNames() []string {
	if m.Counted == nil {
		return m.Ingredients
	}
	names := make([]string, m.Counted.Count)
	for i := range names {
		names[i] = m.Counted.name(i)
	}
	return names
}

// newIngredientFinder returns a function that returns the index of an ingredient by its name.
func newIngredientFinder(m *Manifest) func(name string) (int32, error) {
	find := func(name string) int32 { return m.Counted.indexOf(name) }
	if m.Counted == nil {
		index := make(map[string]int32, len(m.Ingredients))
		for i, name := range m.Ingredients {
			index[name] = int32(i)
		}
		find = func(name string) int32 {
			if i, ok := index[name]; ok {
				return i
			}
			return -1
		}
	}
	return func(name string) (int32, error) {
		if i := find(name); i >= 0 {
			return i, nil
		}
		return 0, fmt.Errorf("%q is no ingredient of the run", name)
	}
}
