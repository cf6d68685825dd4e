package main

import (
	"fmt"
	"io"
	"time"

	"kir/internal/inputerr"
	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/run"
	"kir/internal/terminal"
	"kir/mcmc"
)

// A runStatus is the information about a run that kir status prints.
type runStatus struct {
	Name               string        `json:"name"`
	Complete           bool          `json:"complete"`
	Running            bool          `json:"running"` // whether a process works on the run, as far as kir can tell
	Chains             int           `json:"chains"`
	ChainsDone         int           `json:"chains_done"`              // number of finished chains
	ChainsGoing        int           `json:"chains_going"`             // number of chains that have begun and are not finished
	ChainsStopped      int           `json:"chains_stopped,omitempty"` // number of these whose task seems to have died
	ChainsMissing      int           `json:"chains_missing"`           // number of chains that have not begun
	StoredDraws        int           `json:"draws"`                    // number of stored draws
	WantedDraws        int           `json:"draws_wanted"`             // number of draws that the run will have when it is complete; 0 while it is unknown
	StopsAutomatically bool          `json:"auto,omitempty"`           // whether the run ends when its statistics are accurate enough, instead of after a fixed number of draws
	Parts              int           `json:"parts"`                    // number of files in which draws are stored
	Bytes              int64         `json:"bytes"`
	DamagedStates      []string      `json:"damaged"` // descriptions of the stored states of chains that are damaged
	Shards             []shardStatus `json:"shards"`

	damagedDraws error // error that names the damaged files of draws; nil without damage
}

// A shardStatus is the state of one of several parts of the chains, which may run on different machines.
type shardStatus struct {
	Shard             string        `json:"shard"`
	State             string        `json:"state"` // "done", "going" or "missing"
	Chains            int           `json:"chains"`
	Done              int           `json:"chains_done"`
	Draws             int           `json:"draws"`
	WantedDraws       int           `json:"draws_wanted"`
	SecondsSinceHeard report.Number `json:"heard_seconds_ago"` // seconds since the shard last stored its state; null if it has not stored any
}

// newRunStatus computes the status of a run at the time now. A chain that has not begun is counted with the
// shard that will run it.
func newRunStatus(m *run.Manifest, s *run.Status, now time.Time) *runStatus {
	of := &runStatus{
		Name: m.Name, Complete: s.Complete(), Chains: len(s.Chains), StopsAutomatically: m.Settings.Draws == mcmc.AutoDraws,
		WantedDraws: len(s.Chains) * max(0, m.Settings.Draws), DamagedStates: []string{}, Shards: []shardStatus{},
	}
	var broken []*inputerr.Error
	for _, err := range s.DamagedParts() {
		broken = append(broken, &inputerr.Error{Message: err.Error(), Err: err})
	}
	of.damagedDraws = inputerr.Join(broken, false)
	for _, damage := range s.DamagedStates() {
		of.DamagedStates = append(of.DamagedStates, damage.Error())
	}
	for _, shard := range s.Shards() {
		at := shardStatus{Shard: shard.String(), State: "missing"}
		from, to := shard.Chains(len(s.Chains))
		var heard time.Time
		begun := 0
		for _, c := range s.Chains[from:to] {
			at.Chains++
			at.Draws += c.Draws
			of.Parts += c.Parts
			of.Bytes += c.Bytes
			if !c.LastSaved.IsZero() || c.Draws > 0 {
				begun++
			}
			if c.LastSaved.After(heard) {
				heard = c.LastSaved
			}
			if c.Done {
				at.Done++
			}
			if c.Stopped {
				of.ChainsStopped++
			}
		}
		at.WantedDraws = at.Chains * max(0, m.Settings.Draws)
		at.SecondsSinceHeard = report.Number(now.Sub(heard).Seconds())
		switch {
		case at.Done == at.Chains:
			at.State = "done"
		case begun > 0:
			at.State = "going"
		}
		if heard.IsZero() {
			at.SecondsSinceHeard = report.UnknownNumber()
		}
		of.ChainsDone += at.Done
		of.ChainsGoing += begun - at.Done
		of.ChainsMissing += at.Chains - begun
		of.StoredDraws += at.Draws
		of.Shards = append(of.Shards, at)
	}
	return of
}

// writeText prints the status as text.
func (s *runStatus) writeText(w io.Writer, location string) error {
	share := 100 * float64(s.StoredDraws) / float64(s.WantedDraws)
	fmt.Fprintf(w, "%s\n\n", terminal.EscapeControls(s.Name))
	begun := "running"
	if !s.Running && !s.Complete {
		begun = "stopped"
	}
	stopped := ""
	if s.ChainsStopped > 0 && s.Running {
		stopped = fmt.Sprintf(" (%d stopped: kir tasks %s prints them)", s.ChainsStopped, terminal.EscapeControls(terminal.ShellWord(location)))
	}
	fmt.Fprintf(w, "Chains  %d: %d done, %d %s%s, %d not begun\n", s.Chains, s.ChainsDone, s.ChainsGoing, begun, stopped, s.ChainsMissing)
	if s.StopsAutomatically {
		fmt.Fprintf(w, "Draws   %s stored; the run ends when its estimates are precise enough\n", number.Thousands(s.StoredDraws))
	} else {
		fmt.Fprintf(w, "Draws   %s of %s stored (%.1f %%), %s, %.1f MB\n", number.Thousands(s.StoredDraws), number.Thousands(s.WantedDraws), share, number.CountWithNoun(s.Parts, "file"), float64(s.Bytes)/1e6)
	}
	for _, damage := range s.DamagedStates {
		fmt.Fprintf(w, "Damage  %s; kir resume %s repairs it\n", terminal.EscapeControls(damage), terminal.EscapeControls(terminal.ShellWord(location)))
	}
	if len(s.Shards) > 1 {
		fmt.Fprintf(w, "\n%-12s %-9s %12s %22s  %s\n", "Part (shard)", "", "chains", "draws", "last stored")
		for _, at := range s.Shards {
			heard := "never"
			if at.SecondsSinceHeard.IsKnown() {
				heard = (time.Duration(float64(at.SecondsSinceHeard)) * time.Second).String() + " ago"
			}
			state := at.State
			switch state {
			case "going":
				state = begun
			case "missing":
				state = "not begun"
			}
			fmt.Fprintf(w, "%-12s %-9s %12s %22s  %s\n", at.Shard, state, fmt.Sprintf("%d of %d", at.Done, at.Chains), fmt.Sprintf("%d of %d", at.Draws, at.WantedDraws), heard)
		}
	}
	if s.damagedDraws != nil {
		return s.damagedDraws // which is what there is to do
	}
	next := "\nContinue with kir resume %s, or start the parts again.\n"
	switch {
	case s.Running && s.Complete:
		next = "\nAll draws are stored, and kir is writing the report: kir show %s will print it.\n"
	case s.Running:
		next = "\nIt is running. Ask again with kir status %s.\n"
	case s.Complete && len(s.Shards) < 2:
		next = "\nAll draws are stored: kir show %s prints the report.\n"
	case s.Complete:
		next = "\nAll draws are stored: kir merge %s makes the report.\n"
	}
	_, err := fmt.Fprintf(w, next, terminal.EscapeControls(terminal.ShellWord(location)))
	return err
}
