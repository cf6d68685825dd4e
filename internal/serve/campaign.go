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

// A Campaign is the page's view of a problem's campaign: the batches, their results and the
// standing. The page uses the same files as the commands kir next and kir record.
type Campaign struct {
	Step                  int       `json:"step"`    // id of the step that the campaign was read for
	Activity              string    `json:"doing"`   // what is being computed: "choosing" a batch, the "standing", or nothing if empty
	Fault                 *Fault    `json:"fault"`   // error that keeps the campaign from being read or computed; nil: none
	BatchSize             int       `json:"size"`    // number of recipes in a batch, as the problem file states
	Labels                []Label   `json:"labels"`  // labels to measure and conditions to state
	Round                 int       `json:"round"`   // number of the last round
	Batches               []Batch   `json:"batches"` // latest batches, newest first
	ResultsOutsideBatches int       `json:"own"`     // number of results whose recipes are in no batch
	ResultsFile           string    `json:"results"` // name of the file of results
	Standing              *Standing `json:"stand"`   // report on the campaign; nil if there are no trials yet or the report is being computed
	Stale                 bool      `json:"behind"`  // whether results were recorded after Stand was computed

	Colours map[string]int `json:"colours"` // by ingredient: the number of the colour, as in a [List]

	problemText string // text of the problem file that the campaign was read for
	inputsKey   string // identifies the inputs from which Stand was computed; see standingInputsKey
}

// A Label is something that a result has a value of: a measured label or a condition.
type Label struct {
	Name        string `json:"name"`
	Numeric     bool   `json:"numeric"` // whether the values are numbers
	IsCondition bool   `json:"set"`     // whether the label is a condition, which is set instead of measured
	Unit        string `json:"unit"`    // unit of a condition; empty for a measured label
}

// A Batch is the page's view of a set of recipes that were chosen together.
type Batch struct {
	Round   int      `json:"round"` // number of the round
	Table   string   `json:"table"` // name of the table file in which results can be filled in
	Text    string   `json:"text"`  // sentence about the gain that was expected when the batch was chosen
	Notes   []string `json:"notes"`
	Entries []Trial  `json:"entries"` // recipes of the batch with their results
}

// A Trial is the page's view of one recipe of a batch, with the result.
type Trial struct {
	ID                string                         `json:"id"`
	Recipe            map[string]int                 `json:"recipe"`            // by ingredient: the amount in units
	Reason            string                         `json:"reason"`            // sentence that says why the recipe was chosen
	Kind              string                         `json:"kind"`              // kind of the reason; see [campaign.ReasonKind]
	Predicted         map[string]campaign.Prediction `json:"predicted"`         // by label: the predicted measurement
	Limits            []string                       `json:"limits,omitempty"`  // sentences about limits on predictions that Predicted does not show
	Status            string                         `json:"status"`            // "waits", "made", "failed" or "withdrawn"; empty if the same recipe was tried under another id
	Values            map[string]string              `json:"values"`            // by label or condition: the recorded value
	OfferedConditions string                         `json:"set,omitempty"`     // conditions that were offered, in words
	OfferedValues     map[string]string              `json:"offered,omitempty"` // by condition: the value that was offered
}

// A Standing is the page's view of a report on a campaign; see [campaign.Standing].
type Standing struct {
	Advice         string                     `json:"advice"` // "go on" or "stop"
	Headline       string                     `json:"headline"`
	Text           string                     `json:"text"`
	Tried          string                     `json:"tried"`         // how many recipes were tried, in words
	Best           map[string]int             `json:"best"`          // by ingredient: the amount of the best recipe in units; nil if nothing was measured
	BestID         string                     `json:"best_id"`       // id of the best recipe
	BestConditions string                     `json:"set,omitempty"` // conditions of the best recipe, in words
	Measured       string                     `json:"measured"`      // measurements of the best recipe, in words
	Lines          []string                   `json:"lines"`         // sentences about coverage and models, and notes
	Rounds         []campaign.Round           `json:"rounds"`        // outcome of each round
	Checks         []campaign.PredictionCheck `json:"told"`          // latest predictions compared with measurements
	Figures        []Drawing                  `json:"figures"`
}

// A Drawing is a figure that the page shows.
type Drawing struct {
	Title string `json:"title"`
	SVG   string `json:"svg"` // SVG element
}

// maxTrials is the approximate maximum number of recipes of batches that the page receives; the
// latest batches come first. maxChecks is the maximum number of predictions that the page receives.
const maxTrials, maxChecks = 1000, 1000

// A campaignBoard has the state of a session's campaign and the running computation. Only one
// request at a time records results. Only the computation that was started last may store its
// outcome.
type campaignBoard struct {
	recordMutex sync.Mutex // held while results are recorded or read

	mu                sync.Mutex
	shownCampaign     Campaign           // view of the campaign that the page shows
	cancelComputation context.CancelFunc // cancels the running computation; nil before the first computation
	computationNumber int                // number of the computation that was started last
	relearnTimer      *time.Timer        // starts learning from new results when it fires
}

// publishCampaign sends the view of the campaign to all open pages, if the campaign was read.
func (s *Session) publishCampaign() error {
	return s.hub.publish("campaign", func() (any, bool) {
		s.campaignBoard.mu.Lock()
		defer s.campaignBoard.mu.Unlock()
		return s.campaignBoard.shownCampaign, s.campaignBoard.shownCampaign.Step > 0
	})
}

// openCampaign opens the campaign of a step. The caller must close the campaign.
func (s *Session) openCampaign(ctx context.Context, step Step) (*campaign.Campaign, error) {
	ctx, o := s.loadOptions(ctx, []byte(step.Text), compile.Options{Notify: func(string) {}})
	return campaign.Open(ctx, s.problemPath, o)
}

// withCampaign opens the campaign of the current step, calls do with the campaign unless do is nil,
// and publishes the campaign. If do changes files, the campaign is read again before it is
// published.
func (s *Session) withCampaign(ctx context.Context, do func(*campaign.Campaign) error) error {
	s.campaignBoard.recordMutex.Lock()
	defer s.campaignBoard.recordMutex.Unlock()
	step := s.currentStep()
	c, err := s.openCampaign(ctx, step)
	if err != nil {
		return err
	}
	if do != nil {
		// Reopen the campaign to see what do recorded.
		if err := errors.Join(do(c), c.Close()); err != nil {
			return err
		}
		if c, err = s.openCampaign(ctx, step); err != nil {
			return err
		}
	}
	s.updateBoard(c, &step)
	return errors.Join(s.publishCampaign(), c.Close())
}

// updateBoard stores the page's view of campaign c on the board.
func (s *Session) updateBoard(c *campaign.Campaign, step *Step) {
	n := Campaign{
		Step: step.ID, BatchSize: c.Problem.Campaign.Batch, Round: c.Round(), ResultsOutsideBatches: c.CountResultsOutsideBatches(), Labels: []Label{}, Batches: []Batch{},
		ResultsFile: filepath.Base(compile.ResultsPath(s.problemPath)), problemText: step.Text,
	}
	names := c.ResultLabels()
	for _, name := range names {
		n.Labels = append(n.Labels, newLabel(c, name))
	}
	for _, b := range slices.Backward(c.Batches) {
		one := Batch{Round: b.Round, Table: filepath.Base(c.TablePath(b.Round)), Text: b.RemainingGain.Text, Notes: append([]string{}, b.Notes...), Entries: []Trial{}}
		for k := range b.Entries {
			one.Entries = append(one.Entries, newTrial(c, b, &b.Entries[k]))
		}
		if n.Batches = append(n.Batches, one); countTrials(n.Batches) > maxTrials {
			break
		}
	}
	for _, b := range n.Batches {
		for _, e := range b.Entries {
			s.palette.addRecipes(e.Recipe)
		}
	}
	n.Colours = s.palette.ingredientColours()
	s.campaignBoard.mu.Lock()
	defer s.campaignBoard.mu.Unlock()
	was := &s.campaignBoard.shownCampaign
	n.Activity, n.Standing, n.inputsKey = was.Activity, was.Standing, was.inputsKey
	n.Stale = n.Standing != nil && n.inputsKey != standingInputsKey(c, step)
	s.campaignBoard.shownCampaign = n
}

// countTrials returns the total number of recipes in the batches.
func countTrials(all []Batch) (n int) {
	for k := range all {
		n += len(all[k].Entries)
	}
	return n
}

// standingInputsKey returns a text that changes when the inputs of a standing change: the problem,
// the results and the round.
func standingInputsKey(c *campaign.Campaign, step *Step) string {
	var b strings.Builder
	fmt.Fprintln(&b, step.Text)
	if r := c.Problem.Results(); r != nil {
		fmt.Fprintln(&b, r.Entries)
	}
	fmt.Fprintln(&b, c.Round())
	return b.String()
}

// newLabel returns the page's view of the label or condition with the given name.
func newLabel(c *campaign.Campaign, name string) Label {
	for k := range c.Problem.Conditions {
		if of := &c.Problem.Conditions[k]; of.Name == name {
			return Label{Name: name, Numeric: of.Numbers != nil, IsCondition: true, Unit: of.Unit}
		}
	}
	return Label{Name: name, Numeric: c.IsNumeric(name)}
}

// newTrial returns the page's view of entry e of batch b, with the result.
func newTrial(c *campaign.Campaign, b *campaign.Batch, e *campaign.Entry) Trial {
	t := Trial{ID: e.ID, Recipe: e.Recipe, Reason: e.Reason.Text, Kind: string(e.Reason.Kind), Predicted: e.Predicted, Values: make(map[string]string), OfferedConditions: view.ConditionsText(b.Conditions, e.Conditions), OfferedValues: e.OfferedTexts()}
	for _, l := range e.Limits {
		if text := view.LimitText(l); text != "" {
			t.Limits = append(t.Limits, text)
		}
	}
	r, recorded := c.Result(e.ID)
	switch {
	case recorded:
		t.Status = string(r.Status)
		if log := c.Problem.Results(); r.Status == dataset.StatusMade {
			for _, name := range log.Labels {
				t.Values[name] = log.Value(&r, name)
			}
		}
	case c.IsPending(e.ID):
		t.Status = "waits"
	}
	return t
}

// refreshCampaign reads and publishes the campaign of the current step in the background. If the
// campaign has trials, refreshCampaign also updates the standing.
func (s *Session) refreshCampaign() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.runningWork.Go(func() {
		if err := s.withCampaign(s.ctx, nil); err != nil {
			s.noteError(s.showCampaignFault(s.ctx, err))
			return
		}
		s.updateStanding()
	})
}

// showCampaignFault publishes an error of the campaign. The rest of the page keeps working.
func (s *Session) showCampaignFault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	s.mu.Lock()
	step, m := *s.history.currentStep(), s.amountConverter
	s.mu.Unlock()
	s.campaignBoard.mu.Lock()
	s.campaignBoard.shownCampaign.Step, s.campaignBoard.shownCampaign.Fault = step.ID, newFault(err, step.Text, m)
	s.campaignBoard.shownCampaign.Activity = ""
	s.campaignBoard.mu.Unlock()
	return s.publishCampaign()
}

// startComputation runs do in the background, as a long computation for the campaign, and cancels
// the previous computation. The page shows the text doing as the activity.
func (s *Session) startComputation(doing string, do func(ctx context.Context) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	b := &s.campaignBoard
	b.mu.Lock()
	if b.cancelComputation != nil {
		b.cancelComputation()
	}
	b.computationNumber++
	mine := b.computationNumber
	b.cancelComputation, b.shownCampaign.Activity = cancel, doing
	b.mu.Unlock()
	s.runningWork.Go(func() {
		defer cancel()
		s.noteError(s.publishCampaign())
		err := do(ctx)
		b.mu.Lock()
		last := b.computationNumber == mine
		if last {
			b.shownCampaign.Activity = ""
		}
		b.mu.Unlock()
		if err != nil && last {
			err = s.showCampaignFault(ctx, err)
		}
		if last {
			err = errors.Join(err, s.publishCampaign())
		}
		s.noteError(err)
	})
}

// updateStanding starts to compute the standing. It does nothing if the standing is up to date, a
// batch is being chosen or there are no trials.
func (s *Session) updateStanding() {
	s.campaignBoard.mu.Lock()
	shown := s.campaignBoard.shownCampaign
	s.campaignBoard.mu.Unlock()
	if shown.Activity == choosingActivity || len(shown.Batches) == 0 && shown.ResultsOutsideBatches == 0 || shown.Standing != nil && !shown.Stale {
		return
	}
	s.startComputation("standing", s.computeStanding)
}

// choosingActivity is the [Campaign.Activity] while a batch is being chosen.
const choosingActivity = "choosing"

// computeStanding computes the standing of the current step's campaign and stores the result on the
// board.
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
		Checks: st.Checks[max(0, len(st.Checks)-maxChecks):], Figures: []Drawing{},
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
	s.campaignBoard.mu.Lock()
	defer s.campaignBoard.mu.Unlock()
	if ctx.Err() == nil {
		s.campaignBoard.shownCampaign.Standing, s.campaignBoard.shownCampaign.inputsKey, s.campaignBoard.shownCampaign.Stale = out, standingInputsKey(c, &step), false
		s.campaignBoard.shownCampaign.Fault = nil
	}
	return nil
}

// campaignSettings returns the settings with which the campaign of problem p chooses batches.
func (s *Session) campaignSettings(p *compile.Problem) campaign.Settings {
	return campaign.SettingsOf(p, s.options.Version)
}

// nextBatch starts to choose the next batch in the background. A size of 0 means the size that the
// problem states.
func (s *Session) nextBatch(size int) error {
	if size < 0 || size > campaign.MaxBatchSize {
		return &inputerr.Error{Message: fmt.Sprintf("a batch of %d recipes", size), Hint: fmt.Sprintf("ask for 1 to %d", campaign.MaxBatchSize)}
	}
	s.campaignBoard.mu.Lock()
	busy := s.campaignBoard.shownCampaign.Activity == choosingActivity
	s.campaignBoard.mu.Unlock()
	if busy {
		return &inputerr.Error{Message: "a batch is being chosen", Hint: "wait until it is shown"}
	}
	s.startComputation(choosingActivity, func(ctx context.Context) error {
		if err := s.chooseBatch(ctx, size); err != nil {
			return err
		}
		if err := s.withCampaign(ctx, nil); err != nil {
			return err
		}
		s.campaignBoard.mu.Lock()
		s.campaignBoard.shownCampaign.Activity = "standing"
		s.campaignBoard.mu.Unlock()
		return errors.Join(s.publishCampaign(), s.computeStanding(ctx))
	})
	return nil
}

// chooseBatch chooses a batch and writes the same files as the command kir next. Results may be
// recorded at the same time.
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
	Values map[string]string `json:"values"` // by label or condition: the value as a text
	Failed bool              `json:"failed"` // whether making the recipe failed
}

// maxResults is the maximum number of results in one request.
const maxResults = 10_000

// recordResults records or withdraws all given results, or none of them if there is an error. New
// values replace known values, but the file of results keeps the old entries.
func (s *Session) recordResults(came []RecipeResult, withdraw bool) (*campaign.RecordSummary, error) {
	if len(came) == 0 || len(came) > maxResults {
		return nil, &inputerr.Error{Message: fmt.Sprintf("there are %d results", len(came)), Hint: fmt.Sprintf("send 1 to %d at once", maxResults)}
	}
	return s.saveResults(func(c *campaign.Campaign) ([]campaign.Result, error) {
		var all []campaign.Result
		labels := c.ResultLabels()
		for _, r := range came {
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

// parseValueTable parses a table whose columns are only ids and labels, such as cells copied from a
// table of results. It returns nil if the table has any other column.
func parseValueTable(text string, labels []string) (all []campaign.Result) {
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
			all = append(all, r)
		}
		return all
	}
	return nil
}

// recordTable records the results in the text of a table, as the command kir record does.
func (s *Session) recordTable(text string) (*campaign.RecordSummary, error) {
	return s.saveResults(func(c *campaign.Campaign) ([]campaign.Result, error) {
		if all := parseValueTable(text, c.ResultLabels()); all != nil {
			return all, nil
		}
		all, _, err := c.ParseTable([]byte(text), "the table", dataset.Layout{})
		return all, err
	}, campaign.RecordOptions{ReplaceRecorded: true})
}

// saveResults records results and starts to learn from them. The function results returns the
// results for the opened campaign.
func (s *Session) saveResults(results func(*campaign.Campaign) ([]campaign.Result, error), o campaign.RecordOptions) (out *campaign.RecordSummary, err error) {
	err = s.withCampaign(s.ctx, func(c *campaign.Campaign) error {
		all, err := results(c)
		if err != nil {
			return err
		}
		out, err = c.Record(s.ctx, all, o)
		return err
	})
	if err != nil {
		return nil, recordError(err)
	}
	if out.New+out.ChangedCount+out.WithdrawnCount > 0 {
		s.relearn()
	}
	return out, nil
}

// recordError converts an error of recording to an error for the page. An error that the user
// caused stays unchanged. Any other error, such as a full disk, becomes a message which says that
// nothing was recorded.
func recordError(err error) error {
	var bad *inputerr.Error
	if several := (*inputerr.Errors)(nil); errors.As(err, &several) || errors.As(err, &bad) {
		return err
	}
	return &notSavedError{message: "nothing was recorded, as the results cannot be written", err: err}
}

// relearn restarts the current step, so that it learns from new results. The restart happens once
// no result has come for waitTimes.relearnDelay. The kept work of all other steps is dropped,
// because their models are outdated.
func (s *Session) relearn() {
	b := &s.campaignBoard
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.relearnTimer != nil {
		b.relearnTimer.Stop()
	}
	b.relearnTimer = time.AfterFunc(s.waitTimes.relearnDelay, func() {
		s.mu.Lock()
		for id, w := range s.workByStep {
			if w != s.activeWork {
				delete(s.workByStep, id)
			}
		}
		ended := s.ended
		s.mu.Unlock()
		if ended {
			return
		}
		s.restartWork()
		s.noteError(s.publishState())
		s.updateStanding()
	})
}

// serveSheets responds with a page of weighing sheets, one for each recipe of a batch, to print.
// The sheets have space for measurements.
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

// finerScaleStep returns a step of the scale that is fine enough to weigh the recipe, if err says
// that the requested step is too coarse. Otherwise it returns an empty text.
func finerScaleStep(err error) string {
	if e := (*assemble.StepError)(nil); errors.As(err, &e) {
		return e.Finer
	}
	return ""
}

// answerFigures responds with figures of the models of the finished run. The figures show how each
// prediction changes with the amounts.
func (s *Session) answerFigures(r *http.Request) (any, error) {
	_, m, err := s.finishedRun()
	if err != nil {
		return nil, err
	}
	out := struct {
		Responses []Drawing `json:"responses"`
	}{Responses: []Drawing{}}
	across := view.PanelsAcross
	if r.URL.Query().Get("across") == "1" { // for phones
		across = 1
	}
	for _, f := range view.ResponseFigures(m, across) {
		out.Responses = append(out.Responses, Drawing{f.Title, f.SVG()})
	}
	return out, nil
}
