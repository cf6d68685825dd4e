package mcpserver

import (
	"context"
	"errors"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"kir/internal/compile"
	"kir/internal/inputerr"
)

const (
	// consentPrefix begins the name of a question whether a program may run; the key of its command follows.
	consentPrefix = "run "
	// maxConsentBytes is the greatest length of a command that a client is asked about. A client may shorten a longer
	// one, and a shortened command can hide something.
	maxConsentBytes = 4000
)

// withConsent returns a context in which problems may run the programs that the user has allowed: in the answers that
// come with this call, or before. The user has allowed what the client showed: the key of a command covers its words
// and the contents of its files.
func (c *call) withConsent(ctx context.Context) context.Context {
	s := c.server
	for name, response := range c.request.Params.InputResponses {
		key, ok := strings.CutPrefix(name, consentPrefix)
		if answer, is := response.(*mcp.ElicitResult); ok && is && answer.Action == "accept" && answer.Content["allow"] == true {
			s.mu.Lock()
			s.allowedCommands[key] = true
			s.mu.Unlock()
		}
	}
	return compile.AllowCommands(ctx, func(command *compile.Command) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return command.TrustError() == nil && s.allowedCommands[command.Key()]
	})
}

// askConsent returns a result that makes the client ask the user whether programs may run, and then repeat the call.
// It returns nil if the client cannot ask, has asked, or would not show the whole command.
func (c *call) askConsent(e *compile.ConsentError) *mcp.CallToolResult {
	if !c.canAsk() || len(c.request.Params.InputResponses) > 0 {
		return nil
	}
	questions := make(mcp.InputRequestMap)
	for _, command := range e.Commands {
		text := strings.Join(command.Lines(), "\n")
		if command.TrustError() != nil || len(text) > maxConsentBytes {
			return nil
		}
		questions[consentPrefix+command.Key()] = &mcp.ElicitParams{
			Message: "The problem runs a program with your rights. Its directory, and each word of its command:\n" + text + "\nAllow it until kir mcp ends?",
			RequestedSchema: &jsonschema.Schema{Type: "object", Required: []string{"allow"}, Properties: map[string]*jsonschema.Schema{
				"allow": {Type: "boolean", Title: "Allow the program", Description: "Allow kir to run this program with your rights"},
			}},
		}
	}
	return &mcp.CallToolResult{InputRequests: questions}
}

// canAsk reports whether the client can show the user a form.
func (c *call) canAsk() bool {
	p := c.request.Session.InitializeParams()
	if p == nil || p.Capabilities == nil || p.Capabilities.Elicitation == nil {
		return false
	}
	return p.Capabilities.Elicitation.Form != nil || p.Capabilities.Elicitation.URL == nil
}

// explainConsent returns the error for programs that may not run, with the command that allows them.
func (c *call) explainConsent(e *compile.ConsentError) error {
	var at *inputerr.Error
	if !errors.As(e, &at) {
		return e
	}
	lines := make([]string, 0, len(e.Commands))
	for _, command := range e.Commands {
		lines = append(lines, strings.Join(command.Lines(), " "))
	}
	hint := "the user can look at it, and allow it in a terminal: kir trust " + at.File
	if len(c.names) > 0 {
		hint = "save the problem as a file; the user can look at it, and allow it in a terminal: kir trust FILE"
	}
	return &inputerr.Error{File: at.File, Line: at.Line, Column: at.Column, Message: at.Message + ": " + strings.Join(lines, "; "), Hint: hint}
}
