package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"kir/internal/compile"
	"kir/internal/config"
	"kir/internal/config/change"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/run"
	"kir/internal/run/bucket"
	"kir/internal/terminal"
	"kir/mcmc"
)

// changeFlags are the flags of kir sample that change the problem before it is sampled.
type changeFlags struct {
	pin, exclude, min, max []string
	setConditions          []string // values to set for conditions, each as NAME=VALUE
	nearRecipe, savePath   string
}

func (f *changeFlags) addTo(c *cobra.Command) {
	for _, flag := range []struct {
		name, usage string
		value       *[]string
	}{
		{"pin", "always use an ingredient, `NAME[=AMOUNT]`; with a RUN, K:NAME for its amount in recipe K of the shortlist", &f.pin},
		{"exclude", "never use the ingredient `NAME`", &f.exclude},
		{"min", "smallest amount of an ingredient where it is used, `NAME=AMOUNT`, such as Gin=20%", &f.min},
		{"max", "largest amount of an ingredient, `NAME=AMOUNT`, such as \"Lime juice=3%\"", &f.max},
	} {
		c.Flags().StringArrayVar(flag.value, flag.name, nil, flag.usage)
		must(c.RegisterFlagCompletionFunc(flag.name, completeIngredients))
	}
	c.Flags().StringArrayVar(&f.setConditions, "set", nil, "set a condition of the trial to a value, `NAME=VALUE`, such as temperature=165")
	must(c.RegisterFlagCompletionFunc("set", completeConditions))
	c.Flags().StringVar(&f.nearRecipe, "near", "", "stay near recipe K (shortlist number, or name in your table of recipes), `K[=CHANGES]`: at most CHANGES ingredients come or go (default 2: one swap); amounts may change")
	must(c.RegisterFlagCompletionFunc("near", completeRecipes))
	c.Flags().StringVar(&f.savePath, "save", "", "save the changed problem as `FILE`, beside the old one (default: named after the run)")
	must(c.MarkFlagFilename("save", "yaml", "yml"))
}

// isSet reports whether one of the flags that change the problem is set.
func (f *changeFlags) isSet() bool {
	return len(f.pin)+len(f.exclude)+len(f.min)+len(f.max)+len(f.setConditions) > 0 || f.nearRecipe != "" || f.savePath != ""
}

// completeIngredients suggests names of ingredients to the shell. The argument args holds the problem or run.
func completeIngredients(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	s, err := readSource(c, args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	before := typed[:strings.IndexByte(typed, ':')+1]
	names := make([]string, len(s.Ingredients))
	for k, name := range s.Ingredients {
		names[k] = before + name
	}
	return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeConditions suggests the name of a condition to the shell and, after the equals sign, its values.
func completeConditions(c *cobra.Command, args []string, typed string) (all []string, _ cobra.ShellCompDirective) {
	if len(args) > 0 {
		if s, err := readSource(c, args[0]); err == nil {
			for k := range s.Conditions {
				of := &s.Conditions[k]
				if !strings.HasPrefix(typed, of.Name+"=") {
					all = append(all, of.Name+"=")
					continue
				}
				all = append(all, conditionAssignments(of)...)
			}
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// conditionAssignments returns the texts NAME=VALUE, without units, for all values of a condition. The flags
// --set and --given accept such texts.
func conditionAssignments(condition *config.Condition) (all []string) {
	for _, v := range condition.Numbers {
		all = append(all, condition.Name+"="+number.RoundTrip(v))
	}
	for _, v := range condition.Categories {
		all = append(all, condition.Name+"="+v)
	}
	return all
}

// completeRecipes suggests the names of the known recipes of a problem to the shell.
func completeRecipes(c *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	if len(args) > 0 {
		if s, err := readSource(c, args[0]); err == nil && s.Book != nil {
			for _, r := range s.Book.Recipes {
				names = append(names, r.Name)
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// A problemSource is the problem that a command shall sample. It comes from a problem file or from a run, which
// has a problem file of its own.
type problemSource struct {
	*compile.Outline
	problemFile string
	run         *run.Run      // run from which the problem comes; nil if it comes from a problem file
	shortlist   []report.Best // shortlist of the run; nil before it is first read
}

// isRun reports whether the location holds a run, and not a problem file.
func isRun(location string) bool {
	info, err := os.Stat(location)
	return bucket.IsBucket(location) || err == nil && info.IsDir()
}

// readSource reads the problem from a problem file or from a run, whichever the location holds.
func readSource(c *cobra.Command, location string) (*problemSource, error) {
	s := &problemSource{problemFile: location}
	var err error
	if isRun(location) {
		if s.run, err = openRun(c.Context(), location); err != nil {
			return nil, err
		}
		if s.problemFile, err = problemFileOf(s.run); err != nil {
			return nil, err
		}
	}
	s.Outline, err = compile.ReadOutline(c.Context(), s.problemFile)
	if errors.Is(err, fs.ErrNotExist) && s.run != nil {
		return nil, fmt.Errorf("the problem of the run: %w", err)
	}
	return s, err
}

// shortlistRecipe returns the recipe with number k, counted from 1, on the shortlist of the run. Its errors
// name the flag that asks for the recipe.
func (s *problemSource) shortlistRecipe(c *cobra.Command, flag string, k int) (*report.Best, error) {
	if s.run == nil {
		return nil, &inputerr.Error{Message: fmt.Sprintf("--%s %d: a problem has no shortlist", flag, k), Hint: "name a run instead of the problem file"}
	}
	if s.shortlist == nil {
		m, err := readRunSummary(c, s.run.Dir)
		if err != nil {
			return nil, err
		}
		s.shortlist = m.Best
	}
	return shortlistEntry(s.shortlist, flag, k)
}

// shortlistEntry returns the entry with number k, counted from 1, of a shortlist. Its error names the flag that
// asks for the entry.
func shortlistEntry(best []report.Best, flag string, k int) (*report.Best, error) {
	if k < 1 || k > len(best) {
		return nil, &inputerr.Error{Message: fmt.Sprintf("--%s: there is no recipe %d in the shortlist", flag, k), Hint: fmt.Sprintf("there are %d", len(best))}
	}
	return &best[k-1], nil
}

// resolveIngredient returns the name of the ingredient that the value of a flag names, in the spelling of the
// problem. A star in the value stands for any text, as in a problem file. The error names the flag.
func (s *problemSource) resolveIngredient(flag, text string) (string, error) {
	name := dataset.NormalizeName(text)
	if slices.Contains(s.Ingredients, name) || strings.Contains(name, "*") {
		return name, nil
	}
	for _, other := range s.Ingredients {
		if strings.EqualFold(name, other) {
			return other, nil
		}
	}
	return "", yaml.SuggestName(&inputerr.Error{Message: fmt.Sprintf("--%s: there is no ingredient %s", flag, inputerr.Quote(text))}, name, "there are", s.Ingredients, 8)
}

// requestedChanges returns the changes of the problem that the flags request.
func (f *changeFlags) requestedChanges(c *cobra.Command, s *problemSource) (all []change.Change, err error) {
	for _, text := range f.pin {
		name, amount, _ := cutAtLast(text, "=")
		var entry *report.Best
		if number, rest, ok := strings.Cut(name, ":"); ok {
			if k, err := strconv.Atoi(number); err == nil {
				if entry, err = s.shortlistRecipe(c, "pin", k); err != nil {
					return nil, err
				}
				name = rest
			}
		}
		if name, err = s.resolveIngredient("pin", name); err != nil {
			return nil, err
		}
		if entry != nil && amount == "" {
			if entry.Recipe[name] == 0 {
				return nil, &inputerr.Error{Message: fmt.Sprintf("--pin %s: the recipe has no %s", text, inputerr.Quote(name)), Hint: "say how much: " + text + "=AMOUNT"}
			}
			amount = strconv.Itoa(entry.Recipe[name])
		}
		all = append(all, change.Pin{Ingredient: name, Amount: amount})
	}
	for _, text := range f.exclude {
		name, err := s.resolveIngredient("exclude", text)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(c change.Change) bool { pin, ok := c.(change.Pin); return ok && pin.Ingredient == name }) {
			return nil, &inputerr.Error{Message: inputerr.Quote(name) + " is to be pinned and to be excluded", Hint: "say one of them"}
		}
		all = append(all, change.Exclude{Ingredient: name})
	}
	if f.nearRecipe != "" {
		near, err := s.parseNear(c, f.nearRecipe)
		if err != nil {
			return nil, err
		}
		all = append(all, near)
	}
	for _, text := range f.min {
		name, amount, err := s.parseDose("min", text)
		if err != nil {
			return nil, err
		}
		all = append(all, change.Bound{Ingredient: name, Min: amount})
	}
	for _, text := range f.max {
		name, amount, err := s.parseDose("max", text)
		if err != nil {
			return nil, err
		}
		all = append(all, change.Bound{Ingredient: name, Max: amount})
	}
	for _, text := range f.setConditions {
		given, err := s.parseConditionValue("set", text)
		if err != nil {
			return nil, err
		}
		all = append(all, given)
	}
	return all, nil
}

// parseConditionValue parses the value NAME=VALUE of a flag: the name of a condition, and the value that it
// shall have. The error names the flag.
func (s *problemSource) parseConditionValue(flag, text string) (given change.Given, err error) {
	name, value, _ := cutAtLast(text, "=")
	var names []string
	for k := range s.Conditions {
		of := &s.Conditions[k]
		names = append(names, of.Name)
		if !strings.EqualFold(dataset.NormalizeName(name), of.Name) {
			continue
		}
		if value == "" {
			return given, &inputerr.Error{Message: fmt.Sprintf("--%s %s has no value", flag, inputerr.Quote(text)), Hint: fmt.Sprintf("write, for example, --%s %s", flag, terminal.ShellWord(conditionAssignments(of)[0]))}
		}
		given = change.Given{Condition: of.Name, Value: value}
		if of.Numbers != nil {
			if given.Value, err = strconv.ParseFloat(value, 64); err != nil {
				return given, &inputerr.Error{Message: fmt.Sprintf("--%s %s: %s is a number, and %s is none", flag, text, of.Name, inputerr.Quote(value)), Hint: "write it with a point and without a unit, such as 16.5"}
			}
		}
		return given, nil
	}
	e := &inputerr.Error{Message: "--" + flag + ": there is no condition " + inputerr.Quote(name)}
	if len(names) == 0 {
		e.Hint = "the problem has none; to fix an amount, use --pin NAME=AMOUNT"
		return given, e
	}
	return given, yaml.SuggestName(e, name, "there are", names, 8)
}

// defaultNearChanges is how many ingredients the flag --near allows a recipe to gain or lose, unless the user
// gives a number. 2 allows one ingredient to be exchanged for another.
const defaultNearChanges = 2

// parseNear parses the value of the flag --near, K[=CHANGES] or NAME[=CHANGES]. K is the number of a recipe on
// the shortlist, NAME the name of a known recipe, and CHANGES how many ingredients may differ.
func (s *problemSource) parseNear(c *cobra.Command, text string) (near change.Near, err error) {
	name, changes, ok := cutAtLast(text, "=")
	near.Changes = defaultNearChanges
	if ok {
		if near.Changes, err = strconv.Atoi(changes); err != nil || near.Changes < 0 {
			return near, &inputerr.Error{Message: fmt.Sprintf("--near %s: the changes are %s", text, inputerr.Quote(changes)), Hint: "write how many ingredients may come or go, such as 3=2"}
		}
	}
	if k, err := strconv.Atoi(name); err == nil {
		entry, err := s.shortlistRecipe(c, "near", k)
		if err != nil {
			return near, err
		}
		for _, p := range entry.Parts() {
			near.Parts = append(near.Parts, change.Part(p))
		}
		return near, nil
	}
	var names []string
	if s.Book != nil {
		for _, r := range s.Book.Recipes {
			names = append(names, r.Name)
		}
	}
	for _, known := range names {
		if strings.EqualFold(dataset.NormalizeName(name), known) {
			near.Recipe = known
			return near, nil
		}
	}
	e := &inputerr.Error{Message: fmt.Sprintf("--near: there is no recipe %s", inputerr.Quote(name)), Hint: "of a run, write the number of one in its shortlist"}
	if len(names) > 0 {
		return near, yaml.SuggestName(e, name, "there are", names, 8)
	}
	return near, e
}

// parseDose parses the value NAME=AMOUNT of a flag: the name of an ingredient, and its amount. The error names
// the flag.
func (s *problemSource) parseDose(flag, text string) (name, amount string, err error) {
	name, amount, _ = cutAtLast(text, "=")
	if amount == "" {
		return "", "", &inputerr.Error{Message: fmt.Sprintf("--%s %s has no amount", flag, inputerr.Quote(text)), Hint: fmt.Sprintf("write, for example, --%s %s", flag, terminal.ShellWord(name+"=20%"))}
	}
	name, err = s.resolveIngredient(flag, name)
	return name, amount, err
}

// cutAtLast cuts a text at the last occurrence of the separator.
func cutAtLast(text, separator string) (before, after string, found bool) {
	if k := strings.LastIndex(text, separator); k >= 0 {
		return strings.TrimSpace(text[:k]), strings.TrimSpace(text[k+len(separator):]), true
	}
	return text, "", false
}

// settingChanges returns the changes that write all settings of the chains and of the search into the problem
// file. The file alone then defines the run. The settings are the settings of the original run, except those
// that flags replace.
func (s *problemSource) settingChanges(override func(*mcmc.Settings), effort *float64) []change.Change {
	is, want := s.Sampler, s.Sampler
	if s.run != nil {
		want = s.run.Manifest.SettingsAsStarted()
		want.Kernel = is.Kernel // that of the run may have been chosen for it
		if effort == nil {
			effort = s.run.Manifest.Effort
		}
	}
	override(&want)
	var all []change.Change
	for _, v := range []struct {
		key      string
		is, want any
	}{
		{"kernel", is.Kernel, want.Kernel}, {"chains", is.Chains, want.Chains}, {"warmup", is.Warmup, want.Warmup},
		{"draws", is.Draws, want.Draws}, {"thin", is.Thin, want.Thin}, {"seed", is.Seed, want.Seed},
	} {
		if v.key == "draws" && v.want == mcmc.AutoDraws {
			v.want = "auto"
		}
		if v.key == "draws" && v.is == mcmc.AutoDraws {
			v.is = "auto"
		}
		if v.is != v.want {
			all = append(all, change.Setting{Path: []string{"sampler", v.key}, Value: v.want})
		}
	}
	if effort != nil && *effort != s.Search.Effort {
		all = append(all, change.Setting{Path: []string{"search", "effort"}, Value: *effort})
	}
	return all
}

// targetPath returns the path where the changed problem is to be written. This is the path in the flag --save.
// Without the flag it is a new path in the directory of the original problem, under the name of the run.
func (f *changeFlags) targetPath(s *problemSource, dir string) (string, error) {
	home := filepath.Dir(s.problemFile)
	if f.savePath != "" {
		there, err := filepath.Abs(filepath.Dir(f.savePath))
		if err != nil {
			return "", err
		}
		here, err := filepath.Abs(home)
		if err != nil {
			return "", err
		}
		if there != here {
			return "", &inputerr.Error{File: f.savePath, Message: "the changed problem names its files from where the old one is", Hint: "save it in " + home}
		}
		if _, err := os.Lstat(f.savePath); err == nil {
			return "", &inputerr.Error{File: f.savePath, Message: "the file exists", Hint: "choose another name"}
		}
		return f.savePath, nil
	}
	base := filepath.Join(home, fileNameOf(filepath.Base(dir)))
	path := base + ".yaml"
	for k := 2; ; k++ {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return path, nil
		} else if err != nil {
			return "", err
		}
		path = fmt.Sprintf("%s-%d.yaml", base, k)
	}
}

// buildChangedProblem makes the problem file with the changes that flags request. It returns the path and the
// text of the changed file, and the directory of the new run. The text is empty if nothing changed. It prints
// the difference from the original file, unless quiet is true.
func (f *changeFlags) buildChangedProblem(c *cobra.Command, location, out string, override func(*mcmc.Settings), effort *float64, quiet bool) (path string, text []byte, dir string, err error) {
	s, err := readSource(c, location)
	if err != nil {
		return "", nil, "", err
	}
	changes, err := f.requestedChanges(c, s)
	if err != nil {
		return "", nil, "", err
	}
	if s.run != nil && len(s.run.Manifest.Inputs) > 0 && s.run.Manifest.Inputs[0].SHA256 != fmt.Sprintf("%x", sha256.Sum256(s.Text)) {
		newLogger(c.ErrOrStderr(), quiet)(s.problemFile + " is not what it was when the run was made; what it says now counts")
	}
	changes = append(changes, s.settingChanges(override, effort)...)
	if len(changes) > 0 && !s.HasName {
		// Otherwise the problem would be named after its new file.
		changes = append(changes, change.Setting{Path: []string{"name"}, Value: s.Name})
	}
	if text, err = change.Apply(s.problemFile, s.Text, changes...); err != nil {
		return "", nil, "", err
	}
	if bytes.Equal(text, s.Text) && f.savePath == "" {
		return s.problemFile, nil, out, nil
	}
	if dir = out; dir == "" {
		if dir, err = freeRunDirectory(s.Name); err != nil {
			return "", nil, "", err
		}
	}
	if path, err = f.targetPath(s, dir); err != nil {
		return "", nil, "", err
	}
	if quiet {
		return path, text, dir, nil
	}
	for line := range strings.Lines(change.Diff(s.problemFile, s.Text, path, text)) {
		if _, err := fmt.Fprintln(c.ErrOrStderr(), terminal.EscapeControls(strings.TrimRight(line, "\r\n"))); err != nil {
			return "", nil, "", err
		}
	}
	return path, text, dir, nil
}
