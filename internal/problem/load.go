package problem

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kir/internal/config"
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/search"
	"kir/mcmc"
)

// Options control how a problem is read.
type Options struct {
	// Override changes the sampler settings of the file, as command-line flags do. It may be nil.
	Override func(*mcmc.Settings)

	// Time replaces the file's time limit for a run with mcmc.AutoDraws, as a flag does. nil keeps the
	// file's; 0 means none.
	Time *time.Duration

	// Kernel chooses the kernel if the problem names none or says auto. It gets the problem with its
	// Sampler and Target. If Kernel is nil, the kernel is exact where possible, else balanced.
	Kernel func(ctx context.Context, p *Problem) (string, error)

	// Text replaces the contents of the file, which then need not exist.
	Text []byte

	// Allow returns an error for a path that must not be opened; nil allows all. It gets the path that
	// would be opened.
	Allow func(path string) error

	// ModelCache keeps learnt models from one reading to the next. It may be nil.
	ModelCache *ModelCache

	// Campaign reads a problem for its campaign. Properties to learn are described in [Property.Learning].
	// They are not learnt and are no objectives of the target, and their labels need not have values yet.
	Campaign bool

	// WithinBook adds a rule that keeps the amounts of all ingredients within those of the known recipes,
	// to try its effect.
	WithinBook bool

	// Effort replaces the file's effort of the search; nil keeps it.
	Effort *float64

	// Workers is the number of goroutines that grow forests; 0 means all cores. It changes only the time.
	Workers int

	// Cache stores counts that take long in a directory beside the problem, and reads them from there.
	Cache bool

	// Progress receives a description whenever a step begins that may take long. It may be nil.
	Progress func(what string)

	// OnEarlyRecipes receives good recipes, the best first, while the compositions are still being counted.
	// They do not influence the result. It may be nil.
	OnEarlyRecipes func(p *Problem, best []search.Found)

	// Notify receives messages for the user while the problem is sampled, such as that a program was
	// restarted. The run continues. It may be called from several goroutines, and may be nil.
	Notify func(message string)
}

// Load reads, checks and resolves a problem. Bad input is a [inputerr.Error]. The caller must close the
// problem when it is no longer needed. If the problem names programs, Load fails unless they may run; see
// [Command].
func Load(ctx context.Context, path string, o Options) (*Problem, error) {
	return loadWithKinds(ctx, path, o, allKinds())
}

// loadWithKinds is Load with other kinds of rules and properties.
func loadWithKinds(ctx context.Context, path string, o Options, k *kinds) (p *Problem, err error) {
	p = &Problem{File: path}
	defer func() {
		if err != nil {
			p.Close() // stops programs that were started
			p = nil
		}
	}()
	files := &yaml.Files{Dir: filepath.Dir(path), Allow: o.Allow, OnRead: func(name string, sum []byte, bytes int64) {
		p.Inputs = append(p.Inputs, Input{Path: name, SHA256: hex.EncodeToString(sum), Bytes: bytes})
	}}
	root, err := readText(ctx, files, path, o.Text)
	if err != nil {
		return p, err
	}
	// Consent is checked before any composition may be scored. Errors in reading the commands are reported
	// later, before scoring too.
	commands, at, _ := findCommands(ctx, root, files.Dir)
	if err := cmp.Or(ctx.Err(), requireConsent(ctx, at, commands...)); err != nil {
		return p, err
	}
	bad := &config.Diagnostics{File: root.File, Root: root}
	if err := bad.Collect(root, func(n *yaml.Node) error { _, err := schema.Problem.Fields(n); return err }); err != nil {
		return p, err
	}
	bad.HasUnknownKeys = len(bad.All) > 0
	for key, read := range map[string]func(*yaml.Node) error{
		"name":   func(n *yaml.Node) (err error) { p.Name, err = readName(n, path); return err },
		"search": func(n *yaml.Node) (err error) { p.Search, err = readSearch(n, o.Effort); return err },
		"sampler": func(n *yaml.Node) (err error) {
			p.Sampler, p.Time, err = readSampler(n, o.Override)
			if o.Time != nil {
				p.Time = *o.Time
				if err == nil && p.Time > 0 && p.Sampler.Draws != mcmc.AutoDraws {
					err = &inputerr.Error{Message: fmt.Sprintf("there is a time and a number of draws, %d", p.Sampler.Draws), Hint: "leave one of them out, or take --draws auto"}
				}
			}
			return err
		},
	} {
		if err := bad.Collect(root.Get(key), read); err != nil {
			return p, err
		}
	}
	if o.OnEarlyRecipes != nil && o.ModelCache == nil {
		o.ModelCache = &ModelCache{} // models learnt for firstLook are reused
	}
	s := &loader{readContext: readContext{Data: config.Data{Files: files}, kinds: k, workers: o.Workers, notify: o.Notify, progress: o.Progress, modelCache: o.ModelCache, learnsLater: o.Campaign}, diagnostics: bad, file: path}
	if o.Cache {
		s.cache = newCache(files.Dir)
	}
	if err := s.readInputs(ctx, root); err != nil {
		if err := bad.Add(err); err != nil {
			return p, err
		}
		return p, bad.Err()
	}
	if err := bad.Collect(root.Get("campaign"), func(n *yaml.Node) (err error) { p.Campaign, err = readCampaign(&s.readContext, n); return err }); err != nil {
		return p, err
	}
	s.warnAlike()
	if n := root.Get("labels"); n != nil {
		for _, item := range n.ItemsOrSelf() {
			p.Labels = append(p.Labels, dataset.NormalizeName(item.Text))
		}
	}
	p.Total, p.Ingredients, p.Book = s.Total, s.Names, s.Book
	p.attributes, p.recipes, p.units, p.results = s.Attributes, s.Recipes, s.Units, s.results
	var more []*yaml.Node
	if o.WithinBook {
		more = append(more, config.WithinBook(root))
	}
	if p.Rules, err = readRules(ctx, s, root.Get("constraints"), more...); err != nil {
		return p, err
	}
	if len(bad.All) == 0 {
		if err := s.warnUnkept(ctx, p.Rules); err != nil {
			return p, err
		}
	}
	if len(commands) == 0 && o.OnEarlyRecipes != nil {
		s.searchRough = func(space *mcmc.Space, law mcmc.Sparsity) error {
			return s.firstLook(ctx, p, root, space, law, o.OnEarlyRecipes)
		}
	}
	if err := readTarget(ctx, s, p, root, o.Kernel); err != nil {
		return p, err
	}
	if err := bad.Collect(root.Get("trade"), func(n *yaml.Node) (err error) { p.Trade, err = readTrade(p, n); return err }); err != nil {
		return p, err
	}
	if len(bad.All) > 0 {
		return p, bad.Err()
	}
	p.Warnings = s.Warnings
	p.Resolved, err = resolve(p, root, s.resultsPath)
	return p, err
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

	// searchRough searches for recipes in a space with approximate counts. It may be nil.
	searchRough func(*mcmc.Space, mcmc.Sparsity) error
}

// anyTotal replaces an unknown total, so that errors in the rest of a problem can be reported. All
// percentages of four decimals are whole numbers of it.
const anyTotal = 1_000_000

// readInputs reads the total, the ingredients and the known recipes.
func (s *loader) readInputs(ctx context.Context, root *yaml.Node) (err error) {
	if s.Total, err = readTotal(root); err != nil {
		if err := s.diagnostics.Add(err); err != nil {
			return err
		}
		s.Total = anyTotal
	}
	s.reportProgress("reading the tables")
	s.Whole = s.Total
	if err := s.readIngredients(ctx, root); err != nil {
		return err
	}
	return s.readRecipes(ctx, root)
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

// readName reads the problem's name. The default is the file's name, or the directory's name if the file is
// problem.yaml.
func readName(n *yaml.Node, path string) (string, error) {
	if n != nil {
		return n.Str("the name")
	}
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	if abs, err := filepath.Abs(path); err == nil && name == "problem" {
		name = filepath.Base(filepath.Dir(abs))
	}
	return name, nil
}

// readTotal reads the total, in units.
func readTotal(root *yaml.Node) (int, error) {
	n := root.Get("total")
	if n == nil {
		return 0, yaml.Hint(root.Errorf("the problem has no total"), "add total: how many units a composition divides, such as 1000 for steps of 0.1 %%")
	}
	return n.Whole("the total", 1, math.MaxInt32)
}

// maxUsed bounds min(N, M). Every law of the number of ingredients, and every figure about it, has that
// many values.
const maxUsed = 1 << 20

// readTarget reads the law of the number of ingredients and the properties, makes the target from them and
// the rules, and checks that the kernel can sample it.
func readTarget(ctx context.Context, s *loader, p *Problem, root *yaml.Node, choose func(context.Context, *Problem) (string, error)) error {
	plain, err := mcmc.NewSpace(len(p.Ingredients), p.Total)
	if err != nil {
		return root.PlaceError(err)
	}
	if most := plain.MaxUsed(); most > maxUsed {
		return yaml.Hint(root.Get("total").Errorf("%d ingredients and a total of %d units allow compositions of up to %d: the law of their number is kept for %d at most", plain.N(), p.Total, most, maxUsed), "lower the total, or the number of ingredients")
	}
	law, at, err := readSparsity(s.ruleBook(), plain, root)
	if err := s.diagnostics.Add(err); err != nil {
		return err
	}
	var space *mcmc.Space
	if len(s.diagnostics.All) == 0 {
		counting := mcmc.Counting{Law: law, Seed: p.Sampler.Seed, Workers: s.workers, Cache: s.cache, Progress: s.progress}
		if s.searchRough != nil {
			counting.Early = func(rough *mcmc.Space) error { return s.searchRough(rough, law) }
		}
		space, err = s.ruledSpace(ctx, p.Rules, plain, counting, at)
		if err := s.diagnostics.Add(err); err != nil {
			return err
		}
	}
	s.space, s.law = space, law
	p.law, p.lawNode = law, at
	if p.Properties, err = readProperties(ctx, s, root.Get("properties")); err != nil {
		return err
	}
	if len(s.diagnostics.All) > 0 {
		return s.diagnostics.Err()
	}
	var objectives []mcmc.Objective
	for _, w := range p.Properties {
		if w.Learning == nil {
			objectives = append(objectives, mcmc.Objective{Name: w.Name, Property: w.property, Weight: w.Weight})
		}
	}
	if p.Target, err = mcmc.NewTarget(space, law, objectives...); err != nil {
		return at.PlaceError(err)
	}
	if err := p.applyPredictedLimits(ctx, &s.readContext); err != nil {
		return err
	}
	if p.Sampler.Kernel == autoValue && choose != nil && s.progress != nil {
		s.progress("trying kernels")
	}
	if err := chooseKernel(ctx, p, choose); err != nil {
		return err
	}
	if _, err := p.Sampler.Sampler(p.Target); err != nil {
		var score *mcmc.ScoreError
		if errors.As(err, &score) {
			return p.Explain(err)
		}
		return at.PlaceError(err)
	}
	return nil
}

// chooseKernel replaces auto by a kernel.
func chooseKernel(ctx context.Context, p *Problem, choose func(context.Context, *Problem) (string, error)) (err error) {
	if p.Sampler.Kernel != autoValue {
		return nil
	}
	p.Auto = true
	if choose == nil {
		p.Sampler.Kernel = "balanced"
		if _, err := mcmc.NewExact(p.Target); err == nil {
			p.Sampler.Kernel = "exact"
		}
		return nil
	}
	p.Sampler.Kernel, err = choose(ctx, p)
	return p.Explain(err)
}
