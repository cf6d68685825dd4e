package serve

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"kir/internal/campaign"
	"kir/internal/compile"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/report"
	"kir/internal/report/assemble"
	"kir/internal/report/view"
)

// A Campaign is what the page shows of a problem's campaign: the batches, their results and a
// report. The page uses the same files as the commands kir next and kir record.
type Campaign struct {
	Step      int     `json:"step"`   // id of the step whose problem the campaign was read with
	Activity  string  `json:"doing"`  // what is being computed: "choosing" while a batch is chosen, "standing" while the report is computed, otherwise empty
	Fault     *Fault  `json:"fault"`  // error that prevents reading the campaign or computing the report; nil: none
	BatchSize int     `json:"size"`   // number of recipes in a batch, as the problem file states
	Labels    []Label `json:"labels"` // labels to measure and conditions to state in a result
	// Classes maps the name of a label or of an objective whose prediction is the probability of a
	// class to the name of the class.
	Classes               map[string]string `json:"classes"`
	Round                 int               `json:"round"`   // number of the last round
	Batches               []Batch           `json:"batches"` // latest batches, newest first
	ResultsOutsideBatches int               `json:"own"`     // number of results whose recipes are in no batch
	ResultsFile           string            `json:"results"` // name of the file of results
	Standing              *Standing         `json:"stand"`   // report on the campaign; nil if there are no trials yet or the report is being computed
	Stale                 bool              `json:"behind"`  // whether results were recorded after the report in Standing was computed

	Colours map[string]int `json:"colours"` // maps the name of an ingredient to the number of its colour, as in a [List]

	problemText string // text of the problem file that the campaign was read for
	inputsKey   string // key of the inputs from which Standing was computed; see standingInputsKey
	shownKey    string // key of the inputs that the page shows, of which Standing may be a report
}

// A Label is the name of something that a result has a value of. It is a measured label or a
// condition.
type Label struct {
	Name        string `json:"name"`
	Numeric     bool   `json:"numeric"` // whether the values are numbers
	IsCondition bool   `json:"set"`     // whether the label is a condition, which is set instead of measured
	Unit        string `json:"unit"`    // unit of a condition; empty for a measured label
}

// A Batch is what the page shows of a batch, that is, of recipes that were chosen together.
type Batch struct {
	Round   int      `json:"round"`   // number of the round
	Table   string   `json:"table"`   // name of the table file in which results can be filled in
	Text    string   `json:"text"`    // sentence about the gain that was expected from further rounds when the batch was chosen
	Notes   []string `json:"notes"`   // remarks for the user, such as why the batch has fewer recipes than asked for
	Entries []Trial  `json:"entries"` // recipes of the batch with their results
}

// A Trial is what the page shows of one recipe of a batch and its result.
type Trial struct {
	ID                string                         `json:"id"`                // id of the recipe
	Recipe            map[string]int                 `json:"recipe"`            // maps the name of an ingredient to the amount in units
	Reason            string                         `json:"reason"`            // sentence that says why the recipe was chosen
	Kind              string                         `json:"kind"`              // kind of the reason for the choice; see [campaign.ReasonKind]
	Predicted         map[string]campaign.Prediction `json:"predicted"`         // maps the name of a label to the predicted measurement
	Limits            []string                       `json:"limits,omitempty"`  // sentences about the limits on predictions that Predicted does not show
	Status            string                         `json:"status"`            // "waits", "made", "failed" or "withdrawn"; empty if the same recipe was tried under another id
	Values            map[string]string              `json:"values"`            // maps the name of a label or condition to the recorded value
	OfferedConditions string                         `json:"set,omitempty"`     // offered values of all conditions, in words
	OfferedValues     map[string]string              `json:"offered,omitempty"` // maps the name of a condition to the offered value
}

// A Standing is what the page shows of a report on a campaign; see [campaign.Standing].
type Standing struct {
	Advice         string                     `json:"advice"`        // "go on" or "stop"
	Headline       string                     `json:"headline"`      // advice as a heading
	Text           string                     `json:"text"`          // explanation of the advice
	Tried          string                     `json:"tried"`         // how many recipes were tried, in words
	Best           map[string]int             `json:"best"`          // best recipe: maps the name of an ingredient to the amount in units; nil if nothing was measured
	BestID         string                     `json:"best_id"`       // id of the best recipe
	BestConditions string                     `json:"set,omitempty"` // conditions of the best recipe, in words
	Measured       string                     `json:"measured"`      // measurements of the best recipe, in words
	Lines          []string                   `json:"lines"`         // sentences about prediction intervals and models, and the notes of the report
	Rounds         []campaign.Round           `json:"rounds"`        // outcome of each round
	Checks         []campaign.PredictionCheck `json:"told"`          // comparisons of predictions with measurements, only the latest
	// drawings of the state of the campaign
	Figures []Drawing `json:"figures"`
}

// A Drawing is a drawing, such as a plot, that the page shows.
type Drawing struct {
	Title string `json:"title"`
	SVG   string `json:"svg"` // text of the SVG element
}

const (
	// maxShownTrials is the approximate maximum number of recipes of batches that the page receives.
	// Older batches are left out.
	maxShownTrials = 1000
	// maxShownChecks is the maximum number of comparisons of predictions with measurements that the
	// page receives.
	maxShownChecks = 1000
)

// A campaignState has the campaign of a session and the computation that is running for it. Only
// one request at a time records results. Only the computation that was started last may store its
// result.
type campaignState struct {
	recordMutex sync.Mutex // locked while results are recorded or read

	mu                sync.Mutex
	shownCampaign     Campaign           // campaign as the page shows it
	cancelComputation context.CancelFunc // cancels the running computation; nil before the first computation
	computationNumber int                // number of the computation that was started last
	relearnTimer      *time.Timer        // starts learning from new results when it fires
}

// publishCampaign sends the campaign to all open pages, unless no campaign was read yet.
func (s *Session) publishCampaign() error {
	return s.hub.publish("campaign", func() (any, bool) {
		s.campaignState.mu.Lock()
		defer s.campaignState.mu.Unlock()
		return s.campaignState.shownCampaign, s.campaignState.shownCampaign.Step > 0
	})
}

// openCampaign opens the campaign with the problem of a step. The caller must close the campaign.
func (s *Session) openCampaign(ctx context.Context, step Step) (*campaign.Campaign, error) {
	ctx, o := s.restrictedLoadOptions(ctx, []byte(step.Text), compile.Options{Notify: func(string) {}})
	return campaign.Open(ctx, s.problemPath, o)
}

// useCampaign opens the campaign of the current step and publishes it. If useFunc is not nil,
// useCampaign first calls useFunc with the campaign and then opens the campaign again, because
// useFunc may have changed files.
func (s *Session) useCampaign(ctx context.Context, useFunc func(*campaign.Campaign) error) error {
	s.campaignState.recordMutex.Lock()
	defer s.campaignState.recordMutex.Unlock()
	step := s.currentStep()
	c, err := s.openCampaign(ctx, step)
	if err != nil {
		return err
	}
	if useFunc != nil {
		// Reopen the campaign to see the changes by useFunc.
		if err := errors.Join(useFunc(c), c.Close()); err != nil {
			return err
		}
		if c, err = s.openCampaign(ctx, step); err != nil {
			return err
		}
	}
	s.updateCampaignView(c, &step)
	return errors.Join(s.publishCampaign(), c.Close())
}

// updateCampaignView stores what the page shows of an opened campaign.
func (s *Session) updateCampaignView(opened *campaign.Campaign, step *Step) {
	n := Campaign{
		Step: step.ID, BatchSize: opened.Problem.Campaign.Batch, Round: opened.Round(), ResultsOutsideBatches: opened.CountResultsOutsideBatches(), Labels: []Label{}, Batches: []Batch{},
		ResultsFile: filepath.Base(compile.ResultsPath(s.problemPath)), problemText: step.Text,
	}
	n.Classes = make(map[string]string)
	for _, w := range opened.Problem.Properties {
		if w.Learning == nil || w.Learning.Numeric {
			continue
		}
		for _, name := range []string{w.Name, w.Learning.Label} {
			if _, taken := n.Classes[name]; !taken {
				n.Classes[name] = w.Learning.Want.String()
			}
		}
	}
	names := opened.ResultLabels()
	for _, name := range names {
		n.Labels = append(n.Labels, newLabel(opened, name))
	}
	for _, b := range slices.Backward(opened.Batches) {
		one := Batch{Round: b.Round, Table: filepath.Base(opened.TablePath(b.Round)), Text: b.RemainingGain.Text, Notes: append([]string{}, b.Notes...), Entries: []Trial{}}
		for k := range b.Entries {
			one.Entries = append(one.Entries, newTrial(opened, b, &b.Entries[k]))
		}
		if n.Batches = append(n.Batches, one); countTrials(n.Batches) > maxShownTrials {
			break
		}
	}
	for _, b := range n.Batches {
		for _, e := range b.Entries {
			s.palette.addRecipes(e.Recipe)
		}
	}
	n.Colours = s.palette.ingredientColours()
	s.campaignState.mu.Lock()
	defer s.campaignState.mu.Unlock()
	was := &s.campaignState.shownCampaign
	n.Activity, n.Standing, n.inputsKey = was.Activity, was.Standing, was.inputsKey
	n.shownKey = standingInputsKey(opened, step)
	n.Stale = n.Standing != nil && n.inputsKey != n.shownKey
	s.campaignState.shownCampaign = n
}

// countTrials returns the total number of recipes in the batches.
func countTrials(all []Batch) (n int) {
	for k := range all {
		n += len(all[k].Entries)
	}
	return n
}

// standingInputsKey returns a text that changes whenever the inputs of a report on a campaign
// change: the problem, its files including the results, or the round.
func standingInputsKey(c *campaign.Campaign, step *Step) string {
	return fmt.Sprintln(step.Text, c.Problem.Inputs, c.Round())
}

// newLabel returns the [Label] for the label or condition with the given name.
func newLabel(c *campaign.Campaign, name string) Label {
	for k := range c.Problem.Conditions {
		if of := &c.Problem.Conditions[k]; of.Name == name {
			return Label{Name: name, Numeric: of.Numbers != nil, IsCondition: true, Unit: of.Unit}
		}
	}
	return Label{Name: name, Numeric: c.IsNumeric(name)}
}

// newTrial returns what the page shows of an entry of a batch and its result.
func newTrial(c *campaign.Campaign, batch *campaign.Batch, entry *campaign.Entry) Trial {
	t := Trial{ID: entry.ID, Recipe: entry.Recipe, Reason: entry.Reason.Text, Kind: string(entry.Reason.Kind), Predicted: entry.Predicted, Values: make(map[string]string), OfferedConditions: view.ConditionsText(batch.Conditions, entry.Conditions), OfferedValues: entry.OfferedTexts()}
	for _, l := range entry.Limits {
		if text := view.LimitText(l); text != "" {
			t.Limits = append(t.Limits, text)
		}
	}
	r, recorded := c.Result(entry.ID)
	switch {
	case recorded:
		t.Status = string(r.Status)
		if log := c.Problem.Results(); r.Status == dataset.StatusMade {
			for _, name := range log.Labels {
				t.Values[name] = log.Value(&r, name)
			}
		}
	case c.IsPending(entry.ID):
		t.Status = "waits"
	}
	return t
}

// refreshCampaign reads and publishes the campaign of the current step in the background. If trials
// were made, it also starts to compute the report on the campaign.
func (s *Session) refreshCampaign() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.runningWork.Go(func() {
		if err := s.useCampaign(s.ctx, nil); err != nil {
			s.addErrorNote(s.showCampaignFault(s.ctx, err))
			return
		}
		s.updateStanding()
	})
}

// showCampaignFault publishes an error of the campaign. The other parts of the page keep working.
func (s *Session) showCampaignFault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	s.mu.Lock()
	step, m := *s.history.currentStep(), s.amountConverter
	s.mu.Unlock()
	s.campaignState.mu.Lock()
	s.campaignState.shownCampaign.Step, s.campaignState.shownCampaign.Fault = step.ID, newFault(err, step.Text, m)
	s.campaignState.shownCampaign.Activity = ""
	s.campaignState.mu.Unlock()
	return s.publishCampaign()
}

// startComputation runs the function compute in the background and cancels the previous computation
// for the campaign. The page shows the activity while compute runs.
func (s *Session) startComputation(activity string, compute func(ctx context.Context) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	b := &s.campaignState
	b.mu.Lock()
	if b.cancelComputation != nil {
		b.cancelComputation()
	}
	b.computationNumber++
	mine := b.computationNumber
	b.cancelComputation, b.shownCampaign.Activity = cancel, activity
	b.mu.Unlock()
	s.runningWork.Go(func() {
		defer cancel()
		s.addErrorNote(s.publishCampaign())
		release := s.processors.claim()
		err := compute(ctx)
		release()
		b.mu.Lock()
		last := b.computationNumber == mine
		if last {
			b.shownCampaign.Activity = ""
		}
		b.mu.Unlock()
		if !last {
			return // a newer computation has cancelled this one, whose error says nothing to the user
		}
		if err != nil {
			err = s.showCampaignFault(ctx, err)
		}
		s.addErrorNote(errors.Join(err, s.publishCampaign()))
	})
}

// updateStanding starts to compute the report on the campaign. It does nothing if the report is up
// to date, a batch is being chosen or there are no trials.
func (s *Session) updateStanding() {
	s.campaignState.mu.Lock()
	shown := s.campaignState.shownCampaign
	s.campaignState.mu.Unlock()
	if shown.Activity == choosingActivity || len(shown.Batches) == 0 && shown.ResultsOutsideBatches == 0 || shown.Standing != nil && !shown.Stale {
		return
	}
	s.startComputation("standing", s.computeStanding)
}

// choosingActivity is the value of [Campaign.Activity] while a batch is being chosen.
const choosingActivity = "choosing"

// computeStanding computes the report on the current step's campaign and stores it for the page.
func (s *Session) computeStanding(ctx context.Context) (err error) {
	step := s.currentStep()
	c, err := s.openCampaign(ctx, step)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	st, err := c.ComputeStanding(ctx, s.campaignSettings(c.Problem))
	if err != nil {
		return err
	}
	out := &Standing{
		Advice: st.RemainingGain.Advice, Tried: view.TriedText(st), Lines: []string{}, Rounds: st.Rounds,
		Checks: st.Checks[max(0, len(st.Checks)-maxShownChecks):], Figures: []Drawing{},
	}
	out.Headline, out.Text = view.Advice(st.RemainingGain)
	if st.Best != nil {
		out.Best, out.BestID, out.Measured = st.Best.Recipe, st.Best.ID, view.MeasuredText(st.Best)
		out.BestConditions = view.ConditionsText(st.Conditions, st.Best.Conditions)
	}
	for _, c := range st.Coverage {
		out.Lines = append(out.Lines, view.CoverageText(c))
	}
	for _, m := range st.Models {
		out.Lines = append(out.Lines, view.ModelText(m))
	}
	out.Lines = append(out.Lines, st.Notes...)
	for _, f := range view.StandingFigures(st) {
		f.Name = "campaign-" + f.Name
		out.Figures = append(out.Figures, Drawing{f.Title, f.SVG()})
	}
	s.campaignState.mu.Lock()
	defer s.campaignState.mu.Unlock()
	if ctx.Err() == nil {
		shown := &s.campaignState.shownCampaign
		shown.Standing, shown.inputsKey, shown.Fault = out, standingInputsKey(c, &step), nil
		shown.Stale = shown.inputsKey != shown.shownKey // a result may have been recorded meanwhile
	}
	return nil
}

// campaignSettings returns the settings for choosing a batch of the campaign of problem p.
func (s *Session) campaignSettings(p *compile.Problem) campaign.Settings {
	return campaign.SettingsOf(p, s.options.Version)
}

// nextBatch starts to choose the next batch in the background. If size is 0, the batch has the size
// in the problem file.
func (s *Session) nextBatch(size int) error {
	if size < 0 || size > campaign.MaxBatchSize {
		return &inputerr.Error{Message: fmt.Sprintf("a batch of %d recipes", size), Hint: fmt.Sprintf("ask for 1 to %d", campaign.MaxBatchSize)}
	}
	s.campaignState.mu.Lock()
	busy := s.campaignState.shownCampaign.Activity == choosingActivity
	s.campaignState.mu.Unlock()
	if busy {
		return &inputerr.Error{Message: "a batch is being chosen", Hint: "wait until it is shown"}
	}
	s.startComputation(choosingActivity, func(ctx context.Context) error {
		if err := s.chooseBatch(ctx, size); err != nil {
			return err
		}
		if err := s.useCampaign(ctx, nil); err != nil {
			return err
		}
		s.campaignState.mu.Lock()
		s.campaignState.shownCampaign.Activity = "standing"
		s.campaignState.mu.Unlock()
		return errors.Join(s.publishCampaign(), s.computeStanding(ctx))
	})
	return nil
}

// chooseBatch chooses a batch of the given size and writes the same files as the command kir next.
// Results may be recorded at the same time.
func (s *Session) chooseBatch(ctx context.Context, size int) (err error) {
	c, err := s.openCampaign(ctx, s.currentStep())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	o := s.campaignSettings(c.Problem)
	if size > 0 {
		o.BatchSize = size
	}
	b, err := c.UnchangedBatch(o)
	if b == nil && err == nil {
		b, err = c.Next(ctx, o)
	}
	if errors.Is(err, fs.ErrExist) {
		return &inputerr.Error{Message: "another kir has just chosen this batch", Hint: "reload the page, which shows it"}
	}
	if err != nil {
		return err
	}
	if err := c.SaveTable(b, c.TablePath(b.Round)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// A RecipeResult is the result of making one recipe, as the page sends it.
type RecipeResult struct {
	ID     string            `json:"id"`     // id of the recipe
	Values map[string]string `json:"values"` // maps the name of a label or condition to the value as a text
	Failed bool              `json:"failed"` // whether making the recipe failed
}

// maxResults is the maximum number of results in one request.
const maxResults = 10_000

// recordResults records all given results or, if withdraw is true, withdraws them. If there is an
// error, it changes nothing. New values replace known values, but the file of results keeps the old
// entries.
func (s *Session) recordResults(results []RecipeResult, withdraw bool) (*campaign.RecordSummary, error) {
	if len(results) == 0 || len(results) > maxResults {
		return nil, &inputerr.Error{Message: fmt.Sprintf("there are %d results", len(results)), Hint: fmt.Sprintf("send 1 to %d at once", maxResults)}
	}
	return s.saveResults(func(c *campaign.Campaign) ([]campaign.Result, error) {
		var all []campaign.Result
		labels := c.ResultLabels()
		for _, r := range results {
			if !c.HasID(r.ID) {
				return nil, c.NoRecipeError(r.ID)
			}
			for name := range r.Values {
				if !slices.Contains(labels, name) {
					return nil, &inputerr.Error{Message: "nothing has a label " + inputerr.Quote(name)}
				}
			}
			all = append(all, campaign.Result{ID: r.ID, Values: r.Values, Failed: r.Failed})
		}
		return all, nil
	}, campaign.RecordOptions{ReplaceRecorded: !withdraw, Withdraw: withdraw})
}

// parseValueTable parses a table that has only columns of ids and labels, such as cells copied from
// a table of results. It returns nil if the table has any other column.
func parseValueTable(text string, labels []string) (results []campaign.Result) {
	for _, comma := range "\t;," {
		in := csv.NewReader(strings.NewReader(text))
		in.Comma, in.TrimLeadingSpace = comma, comma != '\t'
		rows, err := in.ReadAll()
		if err != nil || len(rows) < 2 || len(rows[0]) < 2 || !strings.EqualFold(strings.TrimSpace(rows[0][0]), "id") {
			continue
		}
		if slices.ContainsFunc(rows[0][1:], func(name string) bool { return !slices.Contains(labels, dataset.NormalizeName(name)) }) {
			return nil
		}
		for _, row := range rows[1:] {
			r := campaign.Result{ID: strings.TrimSpace(row[0]), Values: make(map[string]string)}
			for k, name := range rows[0][1:] {
				r.Values[dataset.NormalizeName(name)] = row[k+1]
			}
			results = append(results, r)
		}
		return results
	}
	return nil
}

// recordTable records the results in the text of a table in the same way as the command kir record.
func (s *Session) recordTable(text string) (*campaign.RecordSummary, error) {
	return s.saveResults(func(c *campaign.Campaign) ([]campaign.Result, error) {
		if all := parseValueTable(text, c.ResultLabels()); all != nil {
			return all, nil
		}
		all, _, err := c.ParseTable([]byte(text), "the table", dataset.Layout{})
		return all, err
	}, campaign.RecordOptions{ReplaceRecorded: true})
}

// saveResults records results and then schedules learning from them. The function resultsFunc
// returns the results for the opened campaign.
func (s *Session) saveResults(resultsFunc func(*campaign.Campaign) ([]campaign.Result, error), o campaign.RecordOptions) (summary *campaign.RecordSummary, err error) {
	err = s.useCampaign(s.ctx, func(c *campaign.Campaign) error {
		all, err := resultsFunc(c)
		if err != nil {
			return err
		}
		summary, err = c.Record(s.ctx, all, o)
		return err
	})
	if err != nil {
		return nil, convertRecordingError(err)
	}
	if summary.New+summary.ChangedCount+summary.WithdrawnCount > 0 {
		s.scheduleRelearning()
	}
	return summary, nil
}

// convertRecordingError converts an error of recording results to an error for the page. An error
// in the user's input stays unchanged. Any other error, such as a full disk, becomes a message
// which says that nothing was recorded.
func convertRecordingError(err error) error {
	var bad *inputerr.Error
	if several := (*inputerr.Errors)(nil); errors.As(err, &several) || errors.As(err, &bad) {
		return err
	}
	return &notSavedError{message: "nothing was recorded, as the results cannot be written", err: err}
}

// scheduleRelearning restarts the current step after the time waitTimes.relearnDelay, so that the
// step learns from new results. Another call before that starts the time again. The work on all
// other steps is dropped at the restart, because their models are outdated.
func (s *Session) scheduleRelearning() {
	b := &s.campaignState
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.relearnTimer != nil {
		b.relearnTimer.Stop()
	}
	b.relearnTimer = time.AfterFunc(s.waitTimes.relearnDelay, func() {
		s.mu.Lock()
		for id, w := range s.workByStep {
			if w != s.currentStepWork {
				delete(s.workByStep, id)
			}
		}
		ended := s.ended
		s.mu.Unlock()
		if ended {
			return
		}
		s.restartWork()
		s.addErrorNote(s.publishState())
		s.updateStanding()
	})
}

// serveSheets responds with a printable page of weighing sheets for the recipes of a batch that
// have no result yet. The query parameter all asks for the sheets of all recipes. Each sheet has
// space for measurements.
func (s *Session) serveSheets(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	text, err := func() (text []byte, err error) {
		round, err := strconv.Atoi(q.Get("round"))
		if err != nil {
			return nil, &inputerr.Error{Message: "there is no round " + inputerr.Quote(q.Get("round"))}
		}
		step := s.currentStep()
		c, err := s.openCampaign(r.Context(), step)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, c.Close()) }()
		k := slices.IndexFunc(c.Batches, func(b *campaign.Batch) bool { return b.Round == round })
		if k < 0 {
			return nil, &inputerr.Error{Message: fmt.Sprintf("there is no batch of round %d", round)}
		}
		batch, outline := c.Batches[k], c.Problem.Outline()
		order := report.NewIngredientOrder(outline.Attributes, "", "")
		var sheets []*report.Weighing
		for k := range batch.Entries {
			e := &batch.Entries[k]
			if !c.IsPending(e.ID) && q.Get("all") == "" {
				continue
			}
			scale := assemble.Scale{Batch: q.Get("batch"), Step: q.Get("step"), Unit: q.Get("in"), Density: "density"}
			onScale := func() (*report.Weighing, error) {
				return assemble.Weighing(outline, report.Best{Recipe: e.Recipe, Conditions: e.Conditions}, fmt.Sprintf("%s: recipe %s", c.Problem.Name, e.ID), order, scale)
			}
			one, err := onScale()
			if finer := finerScaleStep(err); finer != "" { // the sheet names the finer step
				scale.Step = finer
				one, err = onScale()
			}
			if err != nil {
				return nil, err
			}
			sheets = append(sheets, one)
		}
		if len(sheets) == 0 {
			return nil, &inputerr.Error{Message: fmt.Sprintf("no recipe of round %d waits to be made", round)}
		}
		var b bytes.Buffer
		w.Header().Set("Content-Security-Policy", printSecurityPolicy)
		err = view.WeighingPages(&b, fmt.Sprintf("%s: round %d", c.Problem.Name, round), batch.Labels, sheets)
		return b.Bytes(), err
	}()
	writeResponse(w, "text/html; charset=utf-8", text, err)
}

// finerScaleStep returns a step of the scale that is fine enough to weigh a recipe, if err says
// that the requested step is too coarse. For any other error it returns an empty text.
func finerScaleStep(err error) string {
	if e := (*assemble.StepError)(nil); errors.As(err, &e) {
		return e.Finer
	}
	return ""
}

// respondWithModelFigures responds with drawings of the models of the finished run. A drawing shows how a
// prediction changes with the amount of an ingredient. If the step has begun again since the page
// got its shortlist, the response says that the run is not settled.
func (s *Session) respondWithModelFigures(r *http.Request) (any, error) {
	out := struct {
		Settled   bool      `json:"settled"`
		Responses []Drawing `json:"responses"`
	}{Settled: true, Responses: []Drawing{}}
	_, m, err := s.finishedRun(r)
	if errors.Is(err, errNotFinished) {
		out.Settled = false
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	for _, f := range view.ResponseFigures(m) {
		out.Responses = append(out.Responses, Drawing{f.Title, f.SVG()})
	}
	return out, nil
}
