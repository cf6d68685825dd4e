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

// A runStatus is the output of kir status.
type runStatus struct {
	Name      string        `json:"name"`
	Complete  bool          `json:"complete"`
	Running   bool          `json:"running"` // whether a process works on the run, as far as kir can tell
	Chains    int           `json:"chains"`
	Done      int           `json:"chains_done"`    // number of finished chains
	Going     int           `json:"chains_going"`   // number of chains that have begun and are not finished
	Missing   int           `json:"chains_missing"` // number of chains that have not begun
	Draws     int           `json:"draws"`          // number of stored draws
	DrawsWant int           `json:"draws_wanted"`   // number of draws that the run is to have; 0 as long as it is unknown
	Auto      bool          `json:"auto,omitempty"` // whether the run goes on until its figures are good enough
	Parts     int           `json:"parts"`
	Bytes     int64         `json:"bytes"`
	Damaged   []string      `json:"damaged"` // descriptions of the stored states that are damaged
	Shards    []shardStatus `json:"shards"`

	damagedDraws error // error that names the damaged files of draws; nil if there are none
}

type shardStatus struct {
	Shard     string        `json:"shard"`
	State     string        `json:"state"` // "done", "going" or "missing"
	Chains    int           `json:"chains"`
	Done      int           `json:"chains_done"`
	Draws     int           `json:"draws"`
	DrawsWant int           `json:"draws_wanted"`
	Heard     report.Number `json:"heard_seconds_ago"` // seconds since the shard last stored its state; null if it never has
}

// newRunStatus summarises the status of a run. A chain that has not begun counts for the shard that will run it.
func newRunStatus(m *run.Manifest, s *run.Status, now time.Time) *runStatus {
	of := &runStatus{
		Name: m.Name, Complete: s.Complete(), Chains: len(s.Chains), Auto: m.Settings.Draws == mcmc.AutoDraws,
		DrawsWant: len(s.Chains) * max(0, m.Settings.Draws), Damaged: []string{}, Shards: []shardStatus{},
	}
	var broken []*inputerr.Error
	for _, err := range s.Broken() {
		broken = append(broken, &inputerr.Error{Message: err.Error(), Err: err})
	}
	of.damagedDraws = inputerr.Join(broken, false)
	for _, damage := range s.Damaged() {
		of.Damaged = append(of.Damaged, damage.Error())
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
			if !c.Saved.IsZero() || c.Draws > 0 {
				begun++
			}
			if c.Saved.After(heard) {
				heard = c.Saved
			}
			if c.Done {
				at.Done++
			}
		}
		at.DrawsWant = at.Chains * max(0, m.Settings.Draws)
		at.Heard = report.Number(now.Sub(heard).Seconds())
		switch {
		case at.Done == at.Chains:
			at.State = "done"
		case begun > 0:
			at.State = "going"
		}
		if heard.IsZero() {
			at.Heard = report.UnknownNumber()
		}
		of.Done += at.Done
		of.Going += begun - at.Done
		of.Missing += at.Chains - begun
		of.Draws += at.Draws
		of.Shards = append(of.Shards, at)
	}
	return of
}

// writeText prints the status as text.
func (s *runStatus) writeText(w io.Writer, location string) error {
	share := 100 * float64(s.Draws) / float64(s.DrawsWant)
	fmt.Fprintf(w, "%s\n\n", terminal.Plain(s.Name))
	begun := "going"
	if !s.Running && s.Going > 0 {
		begun = "stopped"
	}
	fmt.Fprintf(w, "Chains  %d: %d done, %d %s, %d missing\n", s.Chains, s.Done, s.Going, begun, s.Missing)
	if s.Auto {
		fmt.Fprintf(w, "Draws   %s held, until the figures are good enough\n", number.Thousands(s.Draws))
	} else {
		fmt.Fprintf(w, "Draws   %s of %s stored (%.1f %%), %s, %.1f MB\n", number.Thousands(s.Draws), number.Thousands(s.DrawsWant), share, number.Counted(s.Parts, "file"), float64(s.Bytes)/1e6)
	}
	for _, damage := range s.Damaged {
		fmt.Fprintf(w, "Damage  %s; kir resume %s makes it again\n", terminal.Plain(damage), terminal.Plain(terminal.ShellWord(location)))
	}
	if len(s.Shards) > 1 {
		fmt.Fprintf(w, "\n%-12s %-8s %12s %22s  %s\n", "Shard", "", "chains", "draws", "last heard of")
		for _, at := range s.Shards {
			heard := "never"
			if at.Heard.Known() {
				heard = (time.Duration(float64(at.Heard)) * time.Second).String() + " ago"
			}
			state := at.State
			if state == "going" {
				state = begun
			}
			fmt.Fprintf(w, "%-12s %-8s %12s %22s  %s\n", at.Shard, state, fmt.Sprintf("%d of %d", at.Done, at.Chains), fmt.Sprintf("%d of %d", at.Draws, at.DrawsWant), heard)
		}
	}
	if s.damagedDraws != nil {
		return s.damagedDraws // which is what there is to do
	}
	next := "\nGo on with kir resume %s, or start the shards again.\n"
	switch {
	case s.Running && s.Complete:
		next = "\nAll draws are stored, and the run is being summed up: kir show %s says what was found when it is done.\n"
	case s.Running:
		next = "\nIt is running. Ask again with kir status %s.\n"
	case s.Complete && len(s.Shards) < 2:
		next = "\nAll draws are stored: kir show %s says what was found.\n"
	case s.Complete:
		next = "\nAll draws are stored: kir merge %s says what was found.\n"
	}
	_, err := fmt.Fprintf(w, next, terminal.Plain(terminal.ShellWord(location)))
	return err
}
