package compile

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"kir/internal/config"
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/mcmc"
)

// Load reads and compiles a problem. Bad input is a [inputerr.Error]. The caller must close the problem when
// it is no longer needed. If the problem names programs, Load fails unless they may run; see [Command].
func Load(ctx context.Context, path string, o Options) (*Problem, error) {
	return loadWithKinds(ctx, path, o, allKinds())
}

// loadWithKinds is Load with other kinds of rules and properties.
func loadWithKinds(ctx context.Context, path string, o Options, k *kinds) (*Problem, error) {
	c, err := begin(ctx, path, o, k)
	if err != nil {
		return nil, err
	}
	return c.Finish(ctx)
}

// A Compilation is a problem that is being compiled: its file, its tables and its constraints are read, and
// the compositions that the constraints allow are being counted.
type Compilation struct {
	problem *Problem
	options Options
	loader  *loader
	count   *ruledCount // nil if all compositions are allowed, or if the constraints have errors
	runs    bool        // programs score the problem
}

// Begin reads a problem with its tables, compiles its constraints, and begins to count the compositions that they
// allow. It is the first part of [Load].
func Begin(ctx context.Context, path string, o Options) (*Compilation, error) {
	return begin(ctx, path, o, allKinds())
}

func begin(ctx context.Context, path string, o Options, k *kinds) (*Compilation, error) {
	c := &Compilation{problem: &Problem{File: path}, options: o}
	c.loader = &loader{readContext: readContext{kinds: k, workers: o.Workers, notify: o.Notify, progress: o.Progress, modelCache: o.ModelCache, learnsLater: o.Campaign}, file: path}
	for _, step := range []func(context.Context) error{c.readFile, c.compileSettings, c.joinTables, c.compileConstraints, c.beginCount} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Finish finishes the count, compiles the properties with the models that they learn, and makes the target. It is the
// second part of [Load], and can be called once.
func (c *Compilation) Finish(ctx context.Context) (*Problem, error) {
	for _, step := range []func(context.Context) error{c.finishCount, c.compileProperties, c.makeTarget, c.compileTrade} {
		if err := step(ctx); err != nil {
			if closing := c.problem.Close(); closing != nil { // stops programs that were started
				err = errors.Join(err, closing)
			}
			return nil, err
		}
	}
	return c.problem, nil
}

// readFile reads the file, and checks that the programs that it names may run.
func (c *Compilation) readFile(ctx context.Context) error {
	p, s := c.problem, c.loader
	s.Files = &yaml.Files{Dir: filepath.Dir(p.File), Allow: c.options.Allow, OnRead: func(name string, sum []byte, bytes int64) {
		p.Inputs = append(p.Inputs, Input{Path: name, SHA256: hex.EncodeToString(sum), Bytes: bytes})
	}}
	root, err := readText(ctx, s.Files, p.File, c.options.Text)
	if err != nil {
		return err
	}
	s.diagnostics = &config.Diagnostics{File: root.File, Root: root}
	if p.file, err = config.Read(root, p.File, s.kinds.fileKinds(), s.diagnostics); err != nil {
		return err
	}
	// Consent is checked before any composition may be scored. Errors in reading the commands are reported
	// later, before scoring too.
	commands, at, _ := findCommands(ctx, p.file, s.Files.Dir)
	c.runs = len(commands) > 0
	if c.options.Cache {
		s.cache = newCache(s.Files.Dir)
	}
	return cmp.Or(ctx.Err(), requireConsent(ctx, at, commands...))
}

// compileSettings takes over the settings of the file, as far as the options do not replace them.
func (c *Compilation) compileSettings(context.Context) (err error) {
	p, o := c.problem, c.options
	p.Name, p.Search, p.Campaign = p.file.Name, p.file.Search, p.file.Campaign
	for _, label := range p.file.Labels {
		p.Labels = append(p.Labels, dataset.NormalizeName(label.Value))
	}
	if o.Effort != nil {
		p.Search.Effort = *o.Effort
	}
	if p.Sampler, p.Time, err = compileSampler(p.file.Sampler, o.Override, c.loader.diagnostics); err != nil {
		return err
	}
	if o.Time == nil {
		return nil
	}
	if p.Time = *o.Time; p.Time > 0 && p.Sampler.Draws != mcmc.AutoDraws {
		return c.loader.diagnostics.Add(&inputerr.Error{Message: fmt.Sprintf("there is a time and a number of draws, %d", p.Sampler.Draws), Hint: "leave one of them out, or take --draws auto"})
	}
	return nil
}

// joinTables reads the tables that the file names: what its words are about.
func (c *Compilation) joinTables(ctx context.Context) error {
	p, s := c.problem, c.loader
	if err := s.readInputs(ctx, p.file); err != nil {
		if err := s.diagnostics.Add(err); err != nil {
			return err
		}
		return s.diagnostics.Err()
	}
	if err := s.diagnostics.Add(s.CheckCampaign(p.Campaign)); err != nil {
		return err
	}
	for _, c := range s.Conditions {
		if slices.Contains(s.Names, c.Name) {
			if err := s.diagnostics.Add(yaml.Hint(c.At.Errorf("%s is an ingredient and a condition", c.Name), "keep one of them, or give the other another name")); err != nil {
				return err
			}
		}
	}
	s.warnAlike()
	p.Total, p.Ingredients, p.Book = s.Total, s.Names, s.Book
	p.attributes, p.recipes, p.units, p.results = s.Attributes, s.Recipes, s.Units, s.results
	return nil
}

// compileConstraints compiles the constraints.
func (c *Compilation) compileConstraints(ctx context.Context) (err error) {
	p, s := c.problem, c.loader
	listed := len(p.file.Constraints)
	if c.options.WithinBook {
		if err := p.file.AddWithinBook(s.diagnostics); err != nil {
			return err
		}
	}
	rules, err := compileRules(ctx, s, p.file.Constraints, listed)
	if err != nil {
		return err
	}
	p.Rules, p.TiedRules = splitTied(rules)
	if p.Conditions, err = s.compileConditions(p.TiedRules); err != nil {
		s.offered = s.listedConditions() // so that formulas are checked, too
		return s.diagnostics.Add(err)
	}
	if err := s.tabulateConditions(p.Conditions); err != nil {
		return s.diagnostics.Add(err)
	}
	p.conditionTable, s.offered = s.conditionTable, p.Conditions
	if c.hasErrors() {
		return nil
	}
	return s.warnUnkept(ctx, p.Rules)
}

// hasErrors reports whether anything but a property or the trade-off has errors.
func (c *Compilation) hasErrors() bool {
	return len(c.loader.diagnostics.All) > c.problem.file.PropertyErrors
}

// beginCount compiles the law of the number of ingredients, and begins to count the compositions of each
// number.
func (c *Compilation) beginCount(ctx context.Context) error {
	p, s := c.problem, c.loader
	plain, err := mcmc.NewSpace(len(p.Ingredients), p.Total)
	if err != nil {
		return p.file.Root.PlaceError(err)
	}
	if most := plain.MaxUsed(); most > maxUsed {
		return yaml.Hint(p.file.Total.At.Errorf("%d ingredients and a total of %d units allow compositions of up to %d: the law of their number is kept for %d at most", plain.N(), p.Total, most, maxUsed), "lower the total, or the number of ingredients")
	}
	if p.law, p.lawNode, err = s.compileSparsity(p.file, plain); err != nil {
		return s.diagnostics.Add(err)
	}
	s.law = p.law
	if c.hasErrors() {
		return nil
	}
	if !slices.ContainsFunc(p.Rules, func(r Rule) bool { return r.Predicted == nil }) {
		s.space = plain
		return nil
	}
	c.count, err = s.beginCount(ctx, p.Rules, plain, c.counting(), p.lawNode)
	return s.diagnostics.Add(err)
}

// counting returns the options for counting the compositions.
func (c *Compilation) counting() mcmc.Counting {
	p, s := c.problem, c.loader
	return mcmc.Counting{Law: p.law, Seed: p.Sampler.Seed, Workers: s.workers, Cache: s.cache, Progress: s.progress}
}

// finishCount counts the compositions, and joins the conditions to them.
func (c *Compilation) finishCount(ctx context.Context) (err error) {
	p, s := c.problem, c.loader
	if c.count != nil {
		if s.space, err = s.finishCount(ctx, c.count); err != nil {
			return s.diagnostics.Add(err)
		}
	}
	if len(p.Conditions) == 0 || s.space == nil {
		return nil
	}
	s.space, err = s.joinConditions(ctx, s.space, p.Conditions, p.Rules, p.TiedRules, c.counting(), p.lawNode)
	return s.diagnostics.Add(err)
}

// compileProperties compiles the properties, with the models that they learn.
func (c *Compilation) compileProperties(ctx context.Context) (err error) {
	if c.problem.Properties, err = compileProperties(ctx, c.loader, c.problem.file.Properties); err != nil {
		return err
	}
	if len(c.loader.diagnostics.All) > 0 {
		return c.loader.diagnostics.Err()
	}
	return nil
}

// makeTarget makes the target, and checks that the kernel can sample it.
func (c *Compilation) makeTarget(ctx context.Context) (err error) {
	p, s := c.problem, c.loader
	var objectives []mcmc.Objective
	for _, w := range p.Properties {
		if w.Learning == nil {
			objectives = append(objectives, mcmc.Objective{Name: w.Name, Property: w.property, Weight: w.Weight})
		}
	}
	if p.Target, err = mcmc.NewTarget(s.space, s.law, objectives...); err != nil {
		return p.lawNode.PlaceError(err)
	}
	if err := p.applyPredictedLimits(ctx, &s.readContext); err != nil {
		return err
	}
	if p.Sampler.Kernel == config.Auto {
		p.Auto, p.Sampler.Kernel = true, "balanced"
		if _, err := mcmc.NewExact(p.Target); err == nil {
			p.Sampler.Kernel = "exact"
		}
	}
	return p.checkKernel()
}

// compileTrade compiles the trade-off, and writes the problem out with every default.
func (c *Compilation) compileTrade(context.Context) error {
	p, s := c.problem, c.loader
	if err := p.file.Trade.Compile(s.diagnostics, p.compileTrade); err != nil {
		return err
	}
	if len(s.diagnostics.All) > 0 {
		return s.diagnostics.Err()
	}
	p.Warnings, p.resultsPath = s.Warnings, s.resultsPath
	return p.resolve()
}

// UseKernel samples the problem, which was read from a file, by another kernel than the one that the file names or
// kir has chosen.
func (p *Problem) UseKernel(name string) error {
	p.Sampler.Kernel = name
	if err := p.checkKernel(); err != nil {
		return err
	}
	return p.resolve()
}

// checkKernel checks that the kernel can sample the target.
func (p *Problem) checkKernel() error {
	if _, err := p.Sampler.Sampler(p.Target); err != nil {
		var score *mcmc.ScoreError
		if errors.As(err, &score) {
			return p.Explain(err)
		}
		return p.lawNode.PlaceError(err)
	}
	return nil
}

// A loader reads a problem: the readContext for readers of rules and properties, and what these readers do
// not need.
type loader struct {
	readContext
	diagnostics *config.Diagnostics // errors found so far
	file        string              // the problem's path; empty: no results are looked for
	results     *dataset.Results    // results of the campaign; nil if there are none
	resultsPath string              // path of the results, if the problem does not name it
	cache       mcmc.Cache          // cache of counts; may be nil
}

// anyTotal replaces an unknown total, so that errors in the rest of a problem can be reported. All
// percentages of four decimals are whole numbers of it.
const anyTotal = 1_000_000

// readInputs reads the total, the ingredients and the known recipes.
func (s *loader) readInputs(ctx context.Context, file *config.Problem) error {
	s.Total = file.Total.Or(anyTotal)
	s.reportProgress("reading the tables")
	s.Whole, s.Conditions = s.Total, file.Conditions
	if err := s.readIngredients(ctx, file.Root); err != nil {
		return err
	}
	return s.readRecipes(ctx, file)
}

// readText reads a problem file. A non-nil text replaces its contents.
func readText(ctx context.Context, files *yaml.Files, path string, text []byte) (root *yaml.Node, err error) {
	defer func() {
		var unread *fs.PathError
		if err == nil || ctx.Err() != nil || errors.As(err, &unread) {
			return
		}
		if ext := strings.ToLower(filepath.Ext(path)); slices.Contains([]string{".csv", ".tsv", ".xlsx", ".ods", ".fods"}, ext) {
			err = &inputerr.Error{File: path, Err: err, Message: "this is a table, not a problem", Hint: "kir init " + inputerr.Quote(path) + " writes a problem for it"}
		}
	}()
	if text == nil {
		if text, err = files.ReadFile(ctx, path, yaml.MaxBytes); err != nil {
			return nil, err
		}
	} else {
		sum := sha256.Sum256(text)
		files.OnRead(filepath.Base(path), sum[:], int64(len(text)))
	}
	if root, err = yaml.Parse(path, text); err != nil {
		return nil, err
	}
	if root.Kind != yaml.Mapping {
		_, err = schema.Problem.Fields(root)
	}
	return root, err
}

// maxUsed bounds min(N, M). Every law of the number of ingredients, and every figure about it, has that
// many values.
const maxUsed = 1 << 20
