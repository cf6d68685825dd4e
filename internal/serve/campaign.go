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

// A Campaign is the page's view of the campaign of a problem: its batches with their results,
// and its standing. The files are those of kir next and kir record.
type Campaign struct {
	Step       int       `json:"step"`  // the step that it was read for
	Activity   string    `json:"doing"` // choosing, standing, or empty
	Fault      *Fault    `json:"fault"`
	Size       int       `json:"size"`   // number of recipes of a batch that the problem asks for
	Labels     []Label   `json:"labels"` // that are measured
	Round      int       `json:"round"`  // number of the last round
	Batches    []Batch   `json:"batches"`
	OwnResults int       `json:"own"`     // number of results whose recipes are in no batch
	Results    string    `json:"results"` // name of the file of results
	Stand      *Standing `json:"stand"`   // nil: no trials yet, or it is being computed
	Stale      bool      `json:"behind"`  // results arrived after Stand was computed

	Colours map[string]int `json:"colours"` // by ingredient, as in a [List]

	text string // text of the problem that it was read for
	key  string // identifies the inputs of Stand
}

// A Label is a measured label of recipes.
type Label struct {
	Name    string `json:"name"`
	Numeric bool   `json:"numeric"`
	Set     bool   `json:"set"`  // a condition: it is set and not measured
	Unit    string `json:"unit"` // of a condition
}

// A Batch is a set of recipes that were chosen together.
type Batch struct {
	Round   int      `json:"round"`
	Table   string   `json:"table"` // the file to fill in
	Text    string   `json:"text"`  // the gain that was still to expect
	Notes   []string `json:"notes"`
	Entries []Trial  `json:"entries"`
}

// A Trial is a recipe of a batch with its result.
type Trial struct {
	ID        string                         `json:"id"`
	Recipe    map[string]int                 `json:"recipe"` // units
	Reason    string                         `json:"reason"`
	Kind      string                         `json:"kind"`
	Predicted map[string]campaign.Prediction `json:"predicted"`
	Limits    []string                       `json:"limits,omitempty"`  // checks of limits that Predicted does not show, in words
	Status    string                         `json:"status"`            // waits, made, failed, withdrawn, or empty: the same recipe was tried under another id
	Values    map[string]string              `json:"values"`            // by label and condition
	Set       string                         `json:"set,omitempty"`     // the conditions that were offered, in words
	Offered   map[string]string              `json:"offered,omitempty"` // and by name
}

// A Standing is the page's view of a [campaign.Standing].
type Standing struct {
	Advice   string                     `json:"advice"` // go on, or stop
	Headline string                     `json:"headline"`
	Text     string                     `json:"text"`
	Tried    string                     `json:"tried"`
	Best     map[string]int             `json:"best"` // units; nil if nothing was measured
	BestID   string                     `json:"best_id"`
	Set      string                     `json:"set,omitempty"` // the conditions of the best recipe, in words
	Measured string                     `json:"measured"`      // measurements of the best recipe
	Lines    []string                   `json:"lines"`         // texts about models, coverage and notes
	Rounds   []campaign.Round           `json:"rounds"`
	Checks   []campaign.PredictionCheck `json:"told"`
	Figures  []Drawing                  `json:"figures"`
}

// A Drawing is a figure as an SVG element of the page.
type Drawing struct {
	Title string `json:"title"`
	SVG   string `json:"svg"`
}

// mostTrials limits the recipes of batches that the page receives; it receives the latest
// batches. mostTold limits the predictions.
const mostTrials, mostTold = 1000, 1000

// A campaignBoard has the state of a session's campaign and the computation that is running
// for it. Requests record results one at a time. Only the latest computation counts.
type campaignBoard struct {
	turn sync.Mutex // held while results are recorded or read

	mu     sync.Mutex
	shown  Campaign
	cancel context.CancelFunc // cancels the running computation
	number int                // number of the last computation
	timer  *time.Timer        // fires when the page learns from new results
}

// publishCampaign tells all pages, if anything is known.
func (s *Session) publishCampaign() error {
	return s.hub.publish("campaign", func() (any, bool) {
		s.board.mu.Lock()
		defer s.board.mu.Unlock()
		return s.board.shown, s.board.shown.Step > 0
	})
}

// openCampaign opens the campaign of a step. The caller closes it.
func (s *Session) openCampaign(ctx context.Context, step Step) (*campaign.Campaign, error) {
	ctx, o := s.loadOptions(ctx, []byte(step.Text), compile.Options{Notify: func(string) {}})
	return campaign.Open(ctx, s.file, o)
}

// withCampaign calls do, if not nil, with the campaign of the current step. Then it publishes
// the campaign.
func (s *Session) withCampaign(ctx context.Context, do func(*campaign.Campaign) error) error {
	s.board.turn.Lock()
	defer s.board.turn.Unlock()
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

// updateBoard stores the view of a campaign.
func (s *Session) updateBoard(c *campaign.Campaign, step *Step) {
	n := Campaign{
		Step: step.ID, Size: c.Problem.Campaign.Batch, Round: c.Round(), OwnResults: c.CountOwnResults(), Labels: []Label{}, Batches: []Batch{},
		Results: filepath.Base(compile.ResultsPath(s.file)), text: step.Text,
	}
	names := c.ResultLabels()
	for _, name := range names {
		n.Labels = append(n.Labels, labelOf(c, name))
	}
	for _, b := range slices.Backward(c.Batches) {
		one := Batch{Round: b.Round, Table: filepath.Base(c.TablePath(b.Round)), Text: b.RemainingGain.Text, Notes: append([]string{}, b.Notes...), Entries: []Trial{}}
		for k := range b.Entries {
			one.Entries = append(one.Entries, trialOf(c, b, &b.Entries[k]))
		}
		if n.Batches = append(n.Batches, one); trialsIn(n.Batches) > mostTrials {
			break
		}
	}
	for _, b := range n.Batches {
		for _, e := range b.Entries {
			s.palette.add(e.Recipe)
		}
	}
	n.Colours = s.palette.colours()
	s.board.mu.Lock()
	defer s.board.mu.Unlock()
	was := &s.board.shown
	n.Activity, n.Stand, n.key = was.Activity, was.Stand, was.key
	n.Stale = n.Stand != nil && n.key != standingKey(c, step)
	s.board.shown = n
}

func trialsIn(all []Batch) (n int) {
	for k := range all {
		n += len(all[k].Entries)
	}
	return n
}

// standingKey returns a text that identifies the inputs of a standing.
func standingKey(c *campaign.Campaign, step *Step) string {
	var b strings.Builder
	fmt.Fprintln(&b, step.Text)
	if r := c.Problem.Results(); r != nil {
		fmt.Fprintln(&b, r.Entries)
	}
	fmt.Fprintln(&b, c.Round())
	return b.String()
}

// labelOf returns the view of a label or a condition.
func labelOf(c *campaign.Campaign, name string) Label {
	for k := range c.Problem.Conditions {
		if of := &c.Problem.Conditions[k]; of.Name == name {
			return Label{Name: name, Numeric: of.Numbers != nil, Set: true, Unit: of.Unit}
		}
	}
	return Label{Name: name, Numeric: c.IsNumeric(name)}
}

// trialOf returns the view of an entry of a batch with its result.
func trialOf(c *campaign.Campaign, b *campaign.Batch, e *campaign.Entry) Trial {
	t := Trial{ID: e.ID, Recipe: e.Recipe, Reason: e.Reason.Text, Kind: string(e.Reason.Kind), Predicted: e.Predicted, Values: make(map[string]string), Set: view.ConditionsText(b.Conditions, e.Conditions), Offered: e.OfferedTexts()}
	for _, l := range e.Limits {
		if text := view.LimitText(l); text != "" {
			t.Limits = append(t.Limits, text)
		}
	}
	r, recorded := c.Result(e.ID)
	switch {
	case recorded:
		t.Status = string(r.Status)
		if log := c.Problem.Results(); r.Status == dataset.Made {
			for _, name := range log.Labels {
				t.Values[name] = log.Value(&r, name)
			}
		}
	case c.IsPending(e.ID):
		t.Status = "waits"
	}
	return t
}

// showCampaign publishes the campaign of the current step in the background. If the campaign
// has trials, it also updates the standing.
func (s *Session) showCampaign() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.running.Go(func() {
		if err := s.withCampaign(s.ctx, nil); err != nil {
			s.noteError(s.showCampaignFault(s.ctx, err))
			return
		}
		s.updateStanding()
	})
}

// showCampaignFault publishes an error of the campaign. The page continues without the
// campaign.
func (s *Session) showCampaignFault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	s.mu.Lock()
	step, m := *s.history.current(), s.measure
	s.mu.Unlock()
	s.board.mu.Lock()
	s.board.shown.Step, s.board.shown.Fault = step.ID, newFault(err, step.Text, m)
	s.board.shown.Activity = ""
	s.board.mu.Unlock()
	return s.publishCampaign()
}

// startComputation starts a long computation for the campaign and cancels the previous one.
// doing names it to the page.
func (s *Session) startComputation(doing string, do func(ctx context.Context) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	b := &s.board
	b.mu.Lock()
	if b.cancel != nil {
		b.cancel()
	}
	b.number++
	mine := b.number
	b.cancel, b.shown.Activity = cancel, doing
	b.mu.Unlock()
	s.running.Go(func() {
		defer cancel()
		s.noteError(s.publishCampaign())
		err := do(ctx)
		b.mu.Lock()
		last := b.number == mine
		if last {
			b.shown.Activity = ""
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

// updateStanding starts to compute the standing, unless it is current or there are no trials.
func (s *Session) updateStanding() {
	s.board.mu.Lock()
	shown := s.board.shown
	s.board.mu.Unlock()
	if shown.Activity == choosing || len(shown.Batches) == 0 && shown.OwnResults == 0 || shown.Stand != nil && !shown.Stale {
		return
	}
	s.startComputation("standing", s.computeStanding)
}

// choosing is the activity while a batch is being chosen.
const choosing = "choosing"

// computeStanding computes the standing of the current step's campaign and stores it.
func (s *Session) computeStanding(ctx context.Context) (err error) {
	step := s.currentStep()
	c, err := s.openCampaign(ctx, step)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	st, err := c.ComputeStanding(ctx, s.settings(c.Problem))
	if err != nil {
		return err
	}
	out := &Standing{
		Advice: st.RemainingGain.Advice, Tried: view.TriedText(st), Lines: []string{}, Rounds: st.Rounds,
		Checks: st.Checks[max(0, len(st.Checks)-mostTold):], Figures: []Drawing{},
	}
	out.Headline, out.Text = view.Advice(st.RemainingGain)
	if st.Best != nil {
		out.Best, out.BestID, out.Measured = st.Best.Recipe, st.Best.ID, view.MeasuredText(st.Best)
		out.Set = view.ConditionsText(st.Conditions, st.Best.Conditions)
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
	s.board.mu.Lock()
	defer s.board.mu.Unlock()
	if ctx.Err() == nil {
		s.board.shown.Stand, s.board.shown.key, s.board.shown.Stale = out, standingKey(c, &step), false
		s.board.shown.Fault = nil
	}
	return nil
}

// settings returns the settings for choosing batches.
func (s *Session) settings(p *compile.Problem) campaign.Settings {
	return campaign.SettingsOf(p, s.options.Version)
}

// nextBatch starts to choose the next batch. size 0 means the size that the problem states.
func (s *Session) nextBatch(size int) error {
	if size < 0 || size > campaign.MostSize {
		return &inputerr.Error{Message: fmt.Sprintf("a batch of %d recipes", size), Hint: fmt.Sprintf("ask for 1 to %d", campaign.MostSize)}
	}
	s.board.mu.Lock()
	busy := s.board.shown.Activity == choosing
	s.board.mu.Unlock()
	if busy {
		return &inputerr.Error{Message: "a batch is being chosen", Hint: "wait until it is shown"}
	}
	s.startComputation(choosing, func(ctx context.Context) error {
		if err := s.choose(ctx, size); err != nil {
			return err
		}
		if err := s.withCampaign(ctx, nil); err != nil {
			return err
		}
		s.board.mu.Lock()
		s.board.shown.Activity = "standing"
		s.board.mu.Unlock()
		return errors.Join(s.publishCampaign(), s.computeStanding(ctx))
	})
	return nil
}

// choose chooses a batch, as kir next does, and writes its files. Results may be recorded
// meanwhile.
func (s *Session) choose(ctx context.Context, size int) (err error) {
	c, err := s.openCampaign(ctx, s.currentStep())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	o := s.settings(c.Problem)
	if size > 0 {
		o.Size = size
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

// A RecipeResult is the result of one recipe, as the page sends it.
type RecipeResult struct {
	ID     string            `json:"id"`
	Values map[string]string `json:"values"`
	Failed bool              `json:"failed"`
}

// maxResults limits the number of results in one request.
const maxResults = 10_000

// recordResults records or withdraws results, all of them or none. New values replace known ones; the
// file keeps the old entries.
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
	}, campaign.RecordOptions{Correct: !withdraw, Withdraw: withdraw})
}

// valuesOf parses a table that only has ids and labels, such as cells copied from a table of
// results. It returns nil if the table has other columns.
func valuesOf(text string, labels []string) (all []campaign.Result) {
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

// recordTable records the results in a table, as kir record does.
func (s *Session) recordTable(text string) (*campaign.RecordSummary, error) {
	return s.saveResults(func(c *campaign.Campaign) ([]campaign.Result, error) {
		if all := valuesOf(text, c.ResultLabels()); all != nil {
			return all, nil
		}
		all, _, err := c.ParseTable([]byte(text), "the table", dataset.Layout{})
		return all, err
	}, campaign.RecordOptions{Correct: true})
}

// saveResults records results and starts learning from them.
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
		return nil, unrecorded(err)
	}
	if out.New+out.Changed+out.Withdrawn > 0 {
		s.relearn()
	}
	return out, nil
}

// unrecorded returns err if the user caused it. Any other error, as from a disk, becomes one
// that says that nothing was recorded.
func unrecorded(err error) error {
	var bad *inputerr.Error
	if several := (*inputerr.Errors)(nil); errors.As(err, &several) || errors.As(err, &bad) {
		return err
	}
	return &unkeptError{what: "nothing was recorded, as the results cannot be written", err: err}
}

// relearn learns from the results after a pause of relearnDelay without new ones. It drops the
// kept work of all other steps, because their models are outdated.
func (s *Session) relearn() {
	b := &s.board
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timer != nil {
		b.timer.Stop()
	}
	b.timer = time.AfterFunc(s.waits.relearn, func() {
		s.mu.Lock()
		for id, w := range s.workByStep {
			if w != s.work {
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

// serveSheets responds with weighing sheets of a batch to print, with room for measurements.
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
			if finer := finerStep(err); finer != "" { // the sheet names the finer step
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
		w.Header().Set("Content-Security-Policy", printPolicy)
		err = view.WeighingPages(&b, fmt.Sprintf("%s: round %d", c.Problem.Name, round), batch.Labels, sheets)
		return b.Bytes(), err
	}()
	write(w, "text/html; charset=utf-8", text, err)
}

// finerStep returns a scale step fine enough for a recipe that the requested step cannot
// weigh; empty if there is none.
func finerStep(err error) string {
	if e := (*assemble.StepError)(nil); errors.As(err, &e) {
		return e.Finer
	}
	return ""
}

// drawings responds with figures of the settled run's models: how each prediction changes with
// the amounts.
func (s *Session) drawings(r *http.Request) (any, error) {
	_, m, err := s.settledModel()
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
