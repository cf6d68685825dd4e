package mcpserver

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"kir/internal/inputerr"
)

// A toolKind says what a tool does to files.
type toolKind int

const (
	readsOnly  toolKind = iota // writes nothing but kir's cache of counts
	adds                       // makes new files; each call makes others
	addsOnce                   // makes new files; the same call again makes none
	amendsOnce                 // adds to a file and can replace what counts in it; the same call again changes nothing
)

// addTool adds a tool. The description says what it does, and when to use it.
func addTool[In any](s *Server, name, title, description string, kind toolKind, bounds map[string]bound, do func(context.Context, *call, In) (*answer, error)) {
	no, destructive := false, kind == amendsOnce
	mcp.AddTool(s.mcp, &mcp.Tool{
		Name: name, Title: title, Description: description, InputSchema: inputSchema[In](bounds),
		Annotations: &mcp.ToolAnnotations{
			Title: title, ReadOnlyHint: kind == readsOnly, DestructiveHint: &destructive, IdempotentHint: kind != adds, OpenWorldHint: &no,
		},
	}, toolHandler(s, do))
}

// addTools adds all tools.
func (s *Server) addTools() {
	addTool(s, "check", "Check a problem", "Check a problem file and its tables, count the possible recipes, rate the models, and suggest changes. Returns all errors of the file at once, each with its line and a fix. Call it before sample.", readsOnly, nil, check)
	addTool(s, "sample", "Draw recipes", "Draw recipes for a problem into a new run, and return the best suggestions with how far to trust them. With the directory of a run as problem, it reuses the run's settings; pin, exclude, min, max, set and near change the problem first. Takes a minute or more; reports progress; an interrupted run goes on with resume.", adds, map[string]bound{
		"draws": {least: 100, most: 1e7}, "effort": {least: 0, most: 100}, "seed": seedBound, "time": {least: 1, most: 3600}, "best": {least: 1, most: 50, preset: 5},
	}, sample)
	addTool(s, "shortlist", "List suggestions", "List the best recipes of a finished run, with predictions, intervals and the nearest known recipes.", readsOnly, map[string]bound{"best": {least: 1, most: 100, preset: 10}}, shortlist)
	addTool(s, "score", "Score recipes", "Score given recipes by a problem's objectives, and list the constraints that each breaks and by how much.", readsOnly, map[string]bound{"limit": {least: 1, most: 1000, preset: 50}}, score)
	addTool(s, "next", "Choose the next batch", "Choose the next batch of recipes to make and measure, each with its reason. Writes the batch and a table to fill in beside the problem. Until a result is recorded, it returns the last batch again.", addsOnce, map[string]bound{"number": {least: 1, most: 500}, "seed": seedBound}, next)
	addTool(s, "record", "Record results", "Record measured results beside the problem, so that kir learns from them: a filled-in table, or one recipe by its id in a batch (B3-1) with its results. Only record what the user measured. It refuses a value that differs from a recorded one, unless correct is set; old entries stay in the file.", amendsOnce, nil, record)
	addTool(s, "campaign", "Where a campaign stands", "Report all batches so far: the best of each, predictions against results, the chance that a better recipe exists, and whether to go on.", readsOnly, nil, campaign)
	addTool(s, "tradeoff", "Find trade-offs", "Find the best trade-offs between two to four objectives: recipes that no other beats in every objective.", readsOnly, map[string]bound{
		"points": {least: 2, most: 500, preset: 10}, "effort": {least: 0, most: 100}, "seed": seedBound,
	}, tradeoff)
	var topics []any
	for _, topic := range s.topics() {
		topics = append(topics, topic)
	}
	addTool(s, "read_document", "Read a document", "Read a document about kir, which is also the resource kir://docs/TOPIC. start leads from a table to a batch; problem lists every key of a problem file, properties the objectives, rules the constraints, tables how tables are read.", readsOnly, map[string]bound{"topic": {choices: topics}}, readDocument)
	addTool(s, "explain_conflict", "Explain a conflict", "Find the smallest set of constraints that cannot all hold, and changes, each proven to resolve the conflict. Use it when check says that the rules cannot all hold.", readsOnly, nil, explainConflict)
}

// commandLine collects the arguments of a command. Values of clients never look like flags.
type commandLine []string

// flag adds a flag with a value, unless the value is empty.
func (l *commandLine) flag(name, value string) {
	if value != "" {
		*l = append(*l, "--"+name+"="+value)
	}
}

// whole adds a flag with a whole number, unless the number is nil.
func (l *commandLine) whole(name string, value *int64) {
	if value != nil {
		l.flag(name, strconv.FormatInt(*value, 10))
	}
}

// number adds a flag with a number, unless the number is nil.
func (l *commandLine) number(name string, value *float64) {
	if value != nil {
		l.flag(name, formatNumber(*value))
	}
}

// toggle adds a flag without a value, if it is on.
func (l *commandLine) toggle(name string, on bool) {
	if on {
		*l = append(*l, "--"+name)
	}
}

// list adds a flag for each value.
func (l *commandLine) list(name string, values []string) {
	for _, v := range values {
		l.flag(name, v)
	}
}

// withArguments returns the whole command line: flags, and what follows them.
func (l commandLine) withArguments(args ...string) []string {
	return slices.Concat(l, []string{"--"}, args)
}

// formatNumber writes a number as commands read it.
func formatNumber(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// A problemGiven is a problem that only this call needs, by its path or by its text.
type problemGiven struct {
	Problem     string `json:"problem,omitempty" jsonschema:"path of the problem file"`
	ProblemText string `json:"problem_text,omitempty" jsonschema:"the problem itself as YAML, instead of a path; files that it names are relative to the first allowed directory"`
}

// checkArguments are the arguments of the tool check.
type checkArguments struct{ problemGiven }

// check does the work of the tool check: kir check.
func check(ctx context.Context, c *call, in checkArguments) (*answer, error) {
	problem, err := c.problemOf(in.Problem, in.ProblemText)
	if err != nil {
		return nil, err
	}
	l := commandLine{"check", "--json"}
	if in.ProblemText != "" {
		l = append(l, "--no-cache")
	}
	a, err := c.run(ctx, l.withArguments(problem)...)
	if err != nil {
		return nil, err
	}
	a.text += "\nNext: sample draws recipes for it.\n"
	return a, nil
}

// sampleArguments are the arguments of the tool sample.
type sampleArguments struct {
	Problem     string   `json:"problem,omitempty" jsonschema:"path of the problem file, or of the directory of a run"`
	ProblemText string   `json:"problem_text,omitempty" jsonschema:"the problem itself as YAML; it is saved as the new file problem"`
	Resume      string   `json:"resume,omitempty" jsonschema:"instead of a problem: the directory of an interrupted run, which goes on"`
	Run         string   `json:"run,omitempty" jsonschema:"directory of the new run; default: runs/NAME-1 and so on beside the problem"`
	Draws       *int64   `json:"draws,omitempty" jsonschema:"number of draws per chain; default: until the estimates are precise enough, within the time"`
	Time        *float64 `json:"time,omitempty" jsonschema:"time limit of the chains in seconds; default 60; not with draws"`
	Effort      *float64 `json:"effort,omitempty" jsonschema:"effort of the search for the best recipes, as a multiple of the usual; 0: no search"`
	Seed        *int64   `json:"seed,omitempty" jsonschema:"seed of all random choices; default: that of the problem"`
	Pin         []string `json:"pin,omitempty" jsonschema:"always use an ingredient: NAME or NAME=AMOUNT; with a run, K:NAME for its amount in recipe K"`
	Exclude     []string `json:"exclude,omitempty" jsonschema:"names of ingredients never to use"`
	Min         []string `json:"min,omitempty" jsonschema:"minimum of an ingredient if it is used, NAME=AMOUNT in units or percent"`
	Max         []string `json:"max,omitempty" jsonschema:"maximum of an ingredient, NAME=AMOUNT in units or percent"`
	Set         []string `json:"set,omitempty" jsonschema:"fix a condition, NAME=VALUE, such as temperature=165"`
	Near        string   `json:"near,omitempty" jsonschema:"stay near a recipe, K or K=CHANGES: K is its number in the shortlist or the name of a known recipe"`
	Best        int      `json:"best,omitempty" jsonschema:"number of suggestions to return"`
}

// changes reports whether the arguments change the problem.
func (in *sampleArguments) changes() bool {
	return len(in.Pin)+len(in.Exclude)+len(in.Min)+len(in.Max)+len(in.Set) > 0 || in.Near != ""
}

// sample does the work of the tool sample: kir sample, or kir resume.
func sample(ctx context.Context, c *call, in sampleArguments) (*answer, error) {
	if in.Resume != "" {
		run, err := c.resolve(in.Resume)
		if err != nil {
			return nil, err
		}
		a, err := c.run(ctx, commandLine{"resume", "--json", "--quiet"}.withArguments(run)...)
		if err != nil {
			return nil, err
		}
		return c.runAnswer(a, run, in.Best)
	}
	problem, err := c.savedProblem(in.Problem, in.ProblemText)
	if err != nil {
		return nil, err
	}
	run, err := c.newRun(in.Run, problem)
	if err != nil {
		return nil, err
	}
	l := commandLine{"sample", "--json"}
	if !in.changes() {
		l = append(l, "--quiet") // otherwise it prints how the problem changed
	}
	l.flag("output", run)
	l.whole("draws", in.Draws)
	if in.Time != nil {
		l.flag("time", formatNumber(*in.Time)+"s")
	}
	l.number("effort", in.Effort)
	l.whole("seed", in.Seed)
	l.list("pin", in.Pin)
	l.list("exclude", in.Exclude)
	l.list("min", in.Min)
	l.list("max", in.Max)
	l.list("set", in.Set)
	l.flag("near", in.Near)
	a, err := c.run(ctx, l.withArguments(problem)...)
	if err != nil {
		return nil, err
	}
	return c.runAnswer(a, run, in.Best)
}

// summaryKeys are the keys of a run's summary that an answer has. The whole summary is a resource, as it has some
// hundred kilobytes.
var summaryKeys = []string{"problem", "verdict", "warnings", "best", "best_known"}

// runAnswer makes the answer about a run out of its summary and its report, with the given number of suggestions.
func (c *call) runAnswer(a *answer, run string, best int) (*answer, error) {
	var summary map[string]json.RawMessage
	if err := json.Unmarshal(a.structured, &summary); err != nil {
		return nil, err
	}
	of := make(map[string]any)
	for _, key := range summaryKeys {
		of[key] = summary[key]
	}
	var all []json.RawMessage
	if err := json.Unmarshal(summary["best"], &all); err != nil {
		return nil, err
	}
	of["best"], of["suggestions"], of["run"] = all[:min(best, len(all))], len(all), run
	text := a.text
	if uri, ok := c.server.runURI(run); ok {
		of["report"], of["summary"] = uri+reportPage, uri+summaryFile
		text += fmt.Sprintf("\nThe run is %s. Its report is %s, and all its figures are in %s.\n", run, uri+reportPage, uri+summaryFile)
	}
	text += "The tool shortlist lists more suggestions; next chooses a batch to make and measure.\n"
	structured, err := json.Marshal(of)
	return &answer{structured: structured, text: text}, err
}

// shortlistArguments are the arguments of the tool shortlist.
type shortlistArguments struct {
	Run  string `json:"run" jsonschema:"directory of a finished run"`
	Best int    `json:"best,omitempty" jsonschema:"number of suggestions to list"`
}

// shortlist does the work of the tool shortlist: kir show --best.
func shortlist(ctx context.Context, c *call, in shortlistArguments) (*answer, error) {
	run, err := c.resolve(in.Run)
	if err != nil {
		return nil, err
	}
	a, err := c.run(ctx, commandLine{"show", "--json"}.withArguments(run)...)
	if err != nil {
		return nil, err
	}
	text, err := c.runText(ctx, commandLine{"show", "--best=" + strconv.Itoa(in.Best)}.withArguments(run)...)
	if err != nil {
		return nil, err
	}
	var trust struct {
		Verdict  string
		Warnings []string
	}
	if err := json.Unmarshal(a.structured, &trust); err != nil {
		return nil, err
	}
	a.text = text + "\n" + trust.Verdict + "\n"
	for _, warning := range trust.Warnings {
		a.text += "! " + warning + "\n"
	}
	return c.runAnswer(a, run, in.Best)
}

// scoreArguments are the arguments of the tool score.
type scoreArguments struct {
	problemGiven
	Table     string `json:"table,omitempty" jsonschema:"path of a table of recipes: CSV or a workbook"`
	TableText string `json:"table_text,omitempty" jsonschema:"the table itself as CSV, such as: recipe,ingredient,amount in the first row, then a row an ingredient of a recipe"`
	Limit     int    `json:"limit,omitempty" jsonschema:"greatest number of recipes to return, in the order of the table"`
}

// score does the work of the tool score: kir score, of which it returns the first recipes.
func score(ctx context.Context, c *call, in scoreArguments) (*answer, error) {
	problem, err := c.problemOf(in.Problem, in.ProblemText)
	if err != nil {
		return nil, err
	}
	table, err := c.withText("table", in.Table, in.TableText, ".kir-mcp-*.csv")
	if err != nil {
		return nil, err
	}
	a, err := c.run(ctx, commandLine{"score", "--json"}.withArguments(problem, table)...)
	if err != nil {
		return nil, err
	}
	var card map[string]any
	d := json.NewDecoder(bytes.NewReader(a.structured))
	d.UseNumber()
	if err := d.Decode(&card); err != nil {
		return nil, err
	}
	if recipes, ok := card["recipes"].([]any); ok && len(recipes) > in.Limit {
		card["recipes"], card["left_out"] = recipes[:in.Limit], len(recipes)-in.Limit
		a.text += fmt.Sprintf("The structured result has the first %d recipes of %d.\n", in.Limit, len(recipes))
	}
	a.structured, err = json.Marshal(card)
	return a, err
}

// nextArguments are the arguments of the tool next.
type nextArguments struct {
	Problem     string   `json:"problem" jsonschema:"path of the problem file"`
	ProblemText string   `json:"problem_text,omitempty" jsonschema:"the problem itself as YAML; it is saved as the new file problem"`
	Number      *int64   `json:"number,omitempty" jsonschema:"number of recipes; default: campaign.batch of the problem, or 8"`
	Seed        *int64   `json:"seed,omitempty" jsonschema:"seed of all random choices; default: that of the problem"`
	Given       []string `json:"given,omitempty" jsonschema:"value of a condition that nobody can choose, NAME=VALUE, such as humidity=40"`
}

// next does the work of the tool next: kir next.
func next(ctx context.Context, c *call, in nextArguments) (*answer, error) {
	problem, err := c.savedProblem(in.Problem, in.ProblemText)
	if err != nil {
		return nil, err
	}
	l := commandLine{"next", "--json"}
	l.whole("number", in.Number)
	l.whole("seed", in.Seed)
	l.list("given", in.Given)
	a, err := c.run(ctx, l.withArguments(problem)...)
	if err != nil {
		return nil, err
	}
	a.text += "\nNext: when the user has made and measured them, record stores the results.\n"
	return a, nil
}

// recordArguments are the arguments of the tool record.
type recordArguments struct {
	Problem   string         `json:"problem" jsonschema:"path of the problem file"`
	Table     string         `json:"table,omitempty" jsonschema:"path of a filled-in batch or another table of recipes with results"`
	TableText string         `json:"table_text,omitempty" jsonschema:"such a table as CSV, instead of a path"`
	Recipe    string         `json:"recipe,omitempty" jsonschema:"instead of a table: id of a recipe of a batch, such as B3-1, or the name of another recipe, whose amounts are in made"`
	Results   map[string]any `json:"results,omitempty" jsonschema:"results of the recipe: label to number or text, and condition to the value that was used"`
	Made      string         `json:"made,omitempty" jsonschema:"amounts that were used, if others than proposed, such as Gin=22%,Tonic water=78%"`
	Failed    bool           `json:"failed,omitempty" jsonschema:"the trial failed and has no result"`
	Correct   bool           `json:"correct,omitempty" jsonschema:"replace recorded values"`
	Withdraw  bool           `json:"withdraw,omitempty" jsonschema:"withdraw the results, or a recipe that will not be made"`
}

// record does the work of the tool record: kir record.
func record(ctx context.Context, c *call, in recordArguments) (*answer, error) {
	problem, err := c.resolve(in.Problem)
	if err != nil {
		return nil, err
	}
	args := []string{problem}
	if in.Recipe == "" {
		if len(in.Results) > 0 || in.Made != "" || in.Failed {
			return nil, &inputerr.Error{Message: "results, made and failed are of one recipe", Hint: "name the recipe, or give a table with results"}
		}
		table, err := c.withText("table", in.Table, in.TableText, ".kir-mcp-*.csv")
		if err != nil {
			return nil, err
		}
		args = append(args, table)
	} else {
		if in.Table != "" || in.TableText != "" {
			return nil, &inputerr.Error{Message: "there are a table and a recipe", Hint: "give one of them"}
		}
		args = append(args, in.Recipe)
		for _, label := range slices.Sorted(maps.Keys(in.Results)) {
			value, err := resultText(label, in.Results[label])
			if err != nil {
				return nil, err
			}
			args = append(args, label+"="+value)
		}
		if len(args) == 2 && in.Made == "" && !in.Failed && !in.Withdraw {
			return nil, &inputerr.Error{Message: "there is no result for " + inputerr.Quote(in.Recipe), Hint: "give results, failed or withdraw"}
		}
	}
	l := commandLine{"record", "--json"}
	l.flag("made", in.Made)
	l.toggle("failed", in.Failed)
	l.toggle("correct", in.Correct)
	l.toggle("withdraw", in.Withdraw)
	a, err := c.run(ctx, l.withArguments(args...)...)
	if err != nil {
		return nil, err
	}
	a.text += "Next: campaign says where it stands; next chooses the next batch.\n"
	return a, nil
}

// resultText writes a result as kir record reads it.
func resultText(label string, value any) (string, error) {
	if strings.Contains(label, "=") || strings.TrimSpace(label) == "" {
		return "", &inputerr.Error{Message: "results has no label " + inputerr.Quote(label), Hint: "use a label of the problem"}
	}
	switch v := value.(type) {
	case string:
		if len(v) <= maxArgumentLength {
			return v, nil
		}
	case float64:
		return formatNumber(v), nil
	}
	return "", &inputerr.Error{Message: "the result of " + inputerr.Quote(label) + " is no number and no short text", Hint: "write a number, or a text"}
}

// campaignArguments are the arguments of the tool campaign.
type campaignArguments struct {
	Problem string   `json:"problem" jsonschema:"path of the problem file"`
	Given   []string `json:"given,omitempty" jsonschema:"value of a condition that nobody can choose, NAME=VALUE, such as humidity=40"`
}

// campaign does the work of the tool campaign: kir campaign.
func campaign(ctx context.Context, c *call, in campaignArguments) (*answer, error) {
	problem, err := c.resolve(in.Problem)
	if err != nil {
		return nil, err
	}
	l := commandLine{"campaign", "--json"}
	l.list("given", in.Given)
	return c.run(ctx, l.withArguments(problem)...)
}

// tradeoffArguments are the arguments of the tool tradeoff.
type tradeoffArguments struct {
	Problem     string   `json:"problem,omitempty" jsonschema:"path of the problem file, or of the directory of a run"`
	ProblemText string   `json:"problem_text,omitempty" jsonschema:"the problem itself as YAML, instead of a path; files that it names are relative to the first allowed directory"`
	Between     []string `json:"between,omitempty" jsonschema:"names of two to four objectives; default: trade of the problem"`
	Points      int      `json:"points,omitempty" jsonschema:"number of recipes to list"`
	Effort      *float64 `json:"effort,omitempty" jsonschema:"search time, as a multiple of the usual"`
	Seed        *int64   `json:"seed,omitempty" jsonschema:"seed of all random choices; default: that of the problem"`
}

// tradeoff does the work of the tool tradeoff: kir tradeoff.
func tradeoff(ctx context.Context, c *call, in tradeoffArguments) (*answer, error) {
	problem, err := c.problemOf(in.Problem, in.ProblemText)
	if err != nil {
		return nil, err
	}
	l := commandLine{"tradeoff", "--json", "--points=" + strconv.Itoa(in.Points)}
	if len(in.Between) > 0 {
		var names strings.Builder
		w := csv.NewWriter(&names)
		if err := w.Write(in.Between); err != nil {
			return nil, err
		}
		w.Flush()
		l.flag("between", strings.TrimSuffix(names.String(), "\n"))
	}
	l.number("effort", in.Effort)
	l.whole("seed", in.Seed)
	return c.run(ctx, l.withArguments(problem)...)
}

// documentArguments are the arguments of the tool read_document.
type documentArguments struct {
	Topic string `json:"topic" jsonschema:"topic of the document"`
}

// readDocument does the work of the tool read_document, for models whose clients let them call tools, but read no
// resources.
func readDocument(_ context.Context, c *call, in documentArguments) (*answer, error) {
	text, err := fs.ReadFile(c.server.options.Docs, in.Topic+".md")
	if err != nil {
		return nil, err
	}
	return &answer{text: string(text), isWhole: true}, nil
}
