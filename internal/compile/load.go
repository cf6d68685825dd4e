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

// Load reads and compiles a problem. Bad input is an [inputerr.Error]. The caller must close the problem when
// it is no longer needed. If the problem names programs, Load fails unless these programs may run; see
// [Command].
func Load(ctx context.Context, path string, o Options) (*Problem, error) {
	return loadWithKinds(ctx, path, o, allKinds())
}

// loadWithKinds does the work of [Load] for problems that may have the given kinds of rules and properties.
func loadWithKinds(ctx context.Context, path string, o Options, k *kinds) (*Problem, error) {
	c, err := beginWithKinds(ctx, path, o, k)
	if err != nil {
		return nil, err
	}
	return c.Finish(ctx)
}

// A Compilation is a problem that is partly compiled. Its file, its tables and its constraints have been
// read, and the count of the allowed compositions has begun.
type Compilation struct {
	problem      *Problem
	options      Options
	loader       *loader
	pendingCount *pendingCount // unfinished count of the allowed compositions; nil if all compositions are allowed, or if the constraints have errors
	runsPrograms bool          // whether a program scores the problem
}

// Begin is the first part of [Load]. It reads a problem with its tables, compiles its constraints, and begins
// to count the allowed compositions.
func Begin(ctx context.Context, path string, o Options) (*Compilation, error) {
	return beginWithKinds(ctx, path, o, allKinds())
}

// beginWithKinds does the work of [Begin] for problems that may have the given kinds of rules and properties.
func beginWithKinds(ctx context.Context, path string, o Options, k *kinds) (*Compilation, error) {
	c := &Compilation{problem: &Problem{File: path}, options: o}
	c.loader = &loader{readContext: readContext{kinds: k, workerCount: o.Workers, notify: o.Notify, progress: o.Progress, modelCache: o.ModelCache, defersLearning: o.Campaign}, path: path}
	for _, step := range []func(context.Context) error{c.readFile, c.compileSettings, c.readTables, c.compileConstraints, c.beginCount} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Finish is the second part of [Load]. It finishes the count, compiles the properties, learns their models, and
// makes the target. It can be called once.
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

// readFile reads the problem file, and checks that the programs that the file names may run.
func (c *Compilation) readFile(ctx context.Context) error {
	p, s := c.problem, c.loader
	s.Files = &yaml.Files{Dir: filepath.Dir(p.File), Allow: c.options.Allow, OnRead: func(name string, sum []byte, bytes int64) {
		p.Inputs = append(p.Inputs, Input{Path: name, SHA256: hex.EncodeToString(sum), Bytes: bytes})
	}}
	root, err := readProblemText(ctx, s.Files, p.File, c.options.Text)
	if err != nil {
		return err
	}
	s.diagnostics = &config.Diagnostics{File: root.File, Root: root}
	if p.fileProblem, err = config.Read(root, p.File, s.kinds.configKinds(), s.diagnostics); err != nil {
		return err
	}
	// Consent is checked before any composition may be scored. Errors in reading the commands are reported
	// later, before scoring too.
	commands, at, _ := findCommands(ctx, p.fileProblem, s.Files.Dir)
	c.runsPrograms = len(commands) > 0
	if c.options.CacheCounts {
		s.countCache = newCountCache(s.Files.Dir)
	}
	return cmp.Or(ctx.Err(), requireConsent(ctx, at, commands...))
}

// compileSettings sets the settings of the problem from the options and from the file. Options take precedence.
func (c *Compilation) compileSettings(context.Context) (err error) {
	p, o := c.problem, c.options
	p.Name, p.Search, p.Campaign = p.fileProblem.Name, p.fileProblem.Search, p.fileProblem.Campaign
	for _, label := range p.fileProblem.Labels {
		p.Labels = append(p.Labels, dataset.NormalizeName(label.Value))
	}
	if o.Effort != nil {
		p.Search.Effort = *o.Effort
	}
	if p.Sampler, p.Time, err = compileSampler(p.fileProblem.Sampler, o.OverrideSampler, c.loader.diagnostics); err != nil {
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

// readTables reads the tables of ingredients and of recipes that the file names.
func (c *Compilation) readTables(ctx context.Context) error {
	p, s := c.problem, c.loader
	if err := s.readInputs(ctx, p.fileProblem); err != nil {
		if err := s.diagnostics.Add(err); err != nil {
			return err
		}
		return s.diagnostics.Err()
	}
	if err := s.diagnostics.Add(s.CheckCampaign(p.Campaign)); err != nil {
		return err
	}
	for _, c := range s.Conditions {
		if slices.Contains(s.IngredientNames, c.Name) {
			if err := s.diagnostics.Add(yaml.Hint(c.KeyNode.Errorf("%s is an ingredient and a condition", c.Name), "keep one of them, or give the other another name")); err != nil {
				return err
			}
		}
	}
	s.warnSpellingVariants()
	p.Total, p.Ingredients, p.Book = s.Total, s.IngredientNames, s.Book
	p.attributes, p.scaledRecipes, p.units, p.results = s.Attributes, s.Recipes, s.Units, s.results
	return nil
}

// compileConstraints compiles the constraints and the conditions of the file.
func (c *Compilation) compileConstraints(ctx context.Context) (err error) {
	p, s := c.problem, c.loader
	listed := len(p.fileProblem.Constraints)
	if c.options.AddWithinBook {
		if err := p.fileProblem.AddWithinBook(s.diagnostics); err != nil {
			return err
		}
	}
	rules, err := compileRules(ctx, s, p.fileProblem.Constraints, listed)
	if err != nil {
		return err
	}
	p.Rules, p.TiedRules = separateTiedRules(rules)
	if p.Conditions, err = s.compileConditions(p.TiedRules); err != nil {
		s.offeredConditions = s.listedConditions() // so that formulas are checked, too
		return s.diagnostics.Add(err)
	}
	if err := s.tabulateConditions(p.Conditions); err != nil {
		return s.diagnostics.Add(err)
	}
	p.conditionTable, s.offeredConditions = s.conditionTable, p.Conditions
	if c.hasErrorsOutsideProperties() {
		return nil
	}
	return s.warnRulesNoRecipeKeeps(ctx, p.Rules)
}

// hasErrorsOutsideProperties reports whether there are errors in parts of the file other than the properties
// and the trade-off.
func (c *Compilation) hasErrorsOutsideProperties() bool {
	return len(c.loader.diagnostics.All) > c.problem.fileProblem.PropertyErrors
}

// beginCount compiles the sparsity law, which is the distribution of the number of ingredients. It then begins
// to count the allowed compositions for each number of ingredients.
func (c *Compilation) beginCount(ctx context.Context) error {
	p, s := c.problem, c.loader
	plain, err := mcmc.NewSpace(len(p.Ingredients), p.Total)
	if err != nil {
		return p.fileProblem.Root.PlaceError(err)
	}
	if most := plain.MaxUsed(); most > maxUsedIngredients {
		return yaml.Hint(p.fileProblem.Total.Node.Errorf("%d ingredients and a total of %d units allow compositions of up to %d: the law of their number is kept for %d at most", plain.N(), p.Total, most, maxUsedIngredients), "lower the total, or the number of ingredients")
	}
	if p.sparsityLaw, p.sparsityNode, err = s.compileSparsity(p.fileProblem, plain); err != nil {
		return s.diagnostics.Add(err)
	}
	s.sparsityLaw = p.sparsityLaw
	if c.hasErrorsOutsideProperties() {
		return nil
	}
	if !slices.ContainsFunc(p.Rules, func(r Rule) bool { return r.Predicted == nil }) {
		s.space = plain
		return nil
	}
	c.pendingCount, err = s.beginCount(ctx, p.Rules, plain, c.countingOptions(), p.sparsityNode)
	return s.diagnostics.Add(err)
}

// countingOptions returns the options for counting the compositions.
func (c *Compilation) countingOptions() mcmc.CountingOptions {
	p, s := c.problem, c.loader
	return mcmc.CountingOptions{Law: p.sparsityLaw, Seed: p.Sampler.Seed, Workers: s.workerCount, Cache: s.countCache, Progress: s.progress}
}

// finishCount finishes the count of the compositions, and adds the conditions to the space.
func (c *Compilation) finishCount(ctx context.Context) (err error) {
	p, s := c.problem, c.loader
	if c.pendingCount != nil {
		if s.space, err = s.finishCount(ctx, c.pendingCount); err != nil {
			return s.diagnostics.Add(err)
		}
	}
	if len(p.Conditions) == 0 || s.space == nil {
		return nil
	}
	s.space, err = s.addConditionsToSpace(ctx, s.space, p.Conditions, p.Rules, p.TiedRules, c.countingOptions(), p.sparsityNode)
	return s.diagnostics.Add(err)
}

// compileProperties compiles the properties, and learns the models that properties need.
func (c *Compilation) compileProperties(ctx context.Context) (err error) {
	if c.problem.Properties, err = compileProperties(ctx, c.loader, c.problem.fileProblem.Properties); err != nil {
		return err
	}
	if len(c.loader.diagnostics.All) > 0 {
		return c.loader.diagnostics.Err()
	}
	return nil
}

// makeTarget makes the target, and checks that the chosen kernel can sample the target.
func (c *Compilation) makeTarget(ctx context.Context) (err error) {
	p, s := c.problem, c.loader
	var objectives []mcmc.Objective
	for _, w := range p.Properties {
		if w.Learning == nil {
			objectives = append(objectives, mcmc.Objective{Name: w.Name, Property: w.mcmcProperty, Weight: w.Weight})
		}
	}
	if p.Target, err = mcmc.NewTarget(s.space, s.sparsityLaw, objectives...); err != nil {
		return p.sparsityNode.PlaceError(err)
	}
	if err := p.applyPredictedLimits(ctx, &s.readContext); err != nil {
		return err
	}
	if p.Sampler.Kernel == config.Auto {
		p.KernelChosen, p.Sampler.Kernel = true, "balanced"
		if _, err := mcmc.NewExact(p.Target); err == nil {
			p.Sampler.Kernel = "exact"
		}
	}
	return p.checkKernel()
}

// compileTrade compiles the trade-off. It also stores the text of the problem file with every default written
// out.
func (c *Compilation) compileTrade(context.Context) error {
	p, s := c.problem, c.loader
	if err := p.fileProblem.Trade.Compile(s.diagnostics, p.compileTrade); err != nil {
		return err
	}
	if len(s.diagnostics.All) > 0 {
		return s.diagnostics.Err()
	}
	p.Warnings, p.resultsPath = s.Warnings, s.resultsPath
	return p.writeResolved()
}

// UseKernel sets the kernel that samples the problem. The problem must have been read from a file.
func (p *Problem) UseKernel(name string) error {
	p.Sampler.Kernel = name
	if err := p.checkKernel(); err != nil {
		return err
	}
	return p.writeResolved()
}

// checkKernel returns an error if the kernel cannot sample the target.
func (p *Problem) checkKernel() error {
	if _, err := p.Sampler.Sampler(p.Target); err != nil {
		var score *mcmc.ScoreError
		if errors.As(err, &score) {
			return p.Explain(err)
		}
		return p.sparsityNode.PlaceError(err)
	}
	return nil
}

// A loader reads a problem file. It has the [readContext] for compiling rules and properties, and further
// fields that only the loader needs.
type loader struct {
	readContext
	diagnostics *config.Diagnostics // errors found until now
	path        string              // path of the problem file; if empty, the loader does not look for a results file
	results     *dataset.Results    // results of the campaign; nil if there are none
	resultsPath string              // path of the results file, if the problem file does not name it
	countCache  mcmc.Cache          // cache of numbers of compositions; may be nil
}

// placeholderTotal is the total in units that replaces a missing or wrong total, so that errors in the rest of
// a problem can be reported. Every percentage with four decimals is a whole number of units of this total.
const placeholderTotal = 1_000_000

// readInputs reads the total, the ingredients and the known recipes.
func (s *loader) readInputs(ctx context.Context, file *config.Problem) error {
	s.Total = file.Total.Or(placeholderTotal)
	s.reportProgress("reading the tables")
	s.CompositionTotal, s.Conditions = s.Total, file.Conditions
	if err := s.readIngredients(ctx, file.Root); err != nil {
		return err
	}
	return s.readRecipes(ctx, file)
}

// readProblemText reads a problem file and parses its YAML. If text is not nil, it replaces the contents of
// the file.
func readProblemText(ctx context.Context, files *yaml.Files, path string, text []byte) (root *yaml.Node, err error) {
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

// maxUsedIngredients is the maximum of min(N, M), the greatest number of ingredients in a composition, for N
// ingredients and a total of M units. A distribution of the number of ingredients has as many probabilities.
const maxUsedIngredients = 1 << 20
