package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"kir/internal/compile"
	"kir/internal/inputerr"
)

// conflictArguments are the arguments of the tool explain_conflict.
type conflictArguments struct{ problemGiven }

// A conflictAnswer is the result of the tool explain_conflict.
type conflictAnswer struct {
	Conflict    bool             `json:"conflict"`         // whether constraints exclude one another
	Cause       string           `json:"cause,omitempty"`  // why they do
	Constraints []constraintLine `json:"constraints"`      // constraints that cannot all hold; none of them can be left out
	Sparsity    bool             `json:"sparsity"`         // whether the permitted numbers of ingredients are part of the conflict
	Fixes       []string         `json:"fixes"`            // changes, each of which alone resolves the conflict
	Other       []string         `json:"errors,omitempty"` // other errors of the file
}

// A constraintLine is a constraint with its place.
type constraintLine struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// explainConflict does the work of the tool explain_conflict. No command has its result as JSON.
func explainConflict(ctx context.Context, c *call, in conflictArguments) (_ *answer, err error) {
	problem, err := c.problemOf(in.Problem, in.ProblemText)
	if err != nil {
		return nil, err
	}
	p, err := compile.Load(ctx, problem, compile.Options{Progress: func(what string) { c.progress.observe(what, 0) }})
	if err == nil {
		err = p.Close()
	}
	var conflict *compile.ConflictError
	if err != nil && !errors.As(err, &conflict) {
		return nil, err
	}
	of := conflictAnswer{Constraints: []constraintLine{}, Fixes: []string{}}
	text := "No conflict: some recipes keep all constraints.\n"
	if conflict != nil {
		of.explain(conflict, err)
		text = of.text()
	}
	structured, err := json.Marshal(of)
	return &answer{structured: structured, text: text}, err
}

// explain fills in the answer for a conflict. The error err contains it, and maybe other errors of the file.
func (a *conflictAnswer) explain(c *compile.ConflictError, err error) {
	a.Conflict, a.Cause, a.Sparsity = true, c.Cause, c.InvolvesUsedCounts
	for _, k := range c.Rules {
		at := c.ProblemRules[k].Node
		text := c.Set.Text(k)
		if plain, err := strconv.Unquote(text); err == nil {
			text = plain
		}
		a.Constraints = append(a.Constraints, constraintLine{at.File, at.Line, text})
	}
	for _, change := range c.Changes {
		a.Fixes = append(a.Fixes, change.Text)
	}
	for _, e := range inputerr.All(err) {
		if !errors.As(error(e), new(*compile.ConflictError)) {
			a.Other = append(a.Other, e.Error())
		}
	}
}

// text returns the answer as text.
func (a *conflictAnswer) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "These constraints cannot all hold: %s.\n", a.Cause)
	for _, r := range a.Constraints {
		fmt.Fprintf(&b, "  %s:%d: %s\n", r.File, r.Line, r.Text)
	}
	if a.Sparsity {
		b.WriteString("  and the sparsity, which limits the number of ingredients\n")
	}
	if len(a.Fixes) == 0 {
		b.WriteString("No small change was found that resolves it: remove one of them.\n")
	} else {
		b.WriteString("Each of these changes alone resolves it:\n")
	}
	for _, fix := range a.Fixes {
		fmt.Fprintf(&b, "  %s\n", fix)
	}
	if len(a.Other) > 0 {
		fmt.Fprintf(&b, "Other errors of the file:\n  %s\n", strings.Join(a.Other, "\n  "))
	}
	b.WriteString("Next: ask the user which change suits, make it, and check the problem again.\n")
	return b.String()
}
