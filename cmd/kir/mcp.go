package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"kir/docs"
	"kir/internal/file"
	"kir/internal/mcpserver"
	"kir/internal/serve"
)

// mcpOptions are the flags of kir mcp.
type mcpOptions struct {
	address      string // address to serve at by HTTP; empty: standard input and output
	allowBuckets bool
}

// mcpPath is the path at which kir mcp serves by HTTP.
const mcpPath = "/mcp"

func newMCPCommand() *cobra.Command {
	o := new(mcpOptions)
	c := &cobra.Command{
		Use:   "mcp [DIR]... [--http[=ADDRESS]]",
		Short: "Let an AI assistant use kir (Model Context Protocol)",
		Long: `Serve kir to an AI assistant by the Model Context Protocol (MCP), on standard input and
output. The assistant can check problems, explain conflicts, draw, list and score
recipes, find trade-offs, choose batches, and record results. It can read kir's
documents, and your problem files and reports.

The assistant can use only the files in each DIR, by default the working directory. It
cannot run external programs of a problem, unless you allow them: your assistant asks
you, or you type kir trust PROBLEM.

--http serves on this machine by HTTP instead, and prints the address and a secret token
that the assistant must send. docs/mcp.md shows how to register kir.`,
		Example: `  kir mcp ~/recipes
  kir mcp ~/recipes --http=127.0.0.1:8091`,
		ValidArgsFunction: completeRunDirectories,
		RunE:              o.run,
	}
	c.Flags().StringVar(&o.address, "http", "", "serve by HTTP at an `ADDRESS` of this machine, HOST:PORT; port 0: any free one")
	c.Flags().Lookup("http").NoOptDefVal = "127.0.0.1:0"
	c.Flags().BoolVar(&o.allowBuckets, "allow-buckets", false, "allow runs in S3 buckets, with your credentials")
	return c
}

// run serves kir until the client or the user ends it.
func (o *mcpOptions) run(c *cobra.Command, dirs []string) error {
	if len(dirs) == 0 {
		dirs = []string{"."}
	}
	directories, err := file.NewConfinement(dirs[0], dirs[1:]...)
	if err != nil {
		return err
	}
	s := mcpserver.New(mcpserver.Options{
		Directories: directories, AllowBuckets: o.allowBuckets, Version: currentBuild().Version, Docs: docs.Files,
		Run:            runInProcess,
		DescribeErrors: func(err error) any { return newErrorsJSON(err, exitStatusOf(err)) },
	})
	if o.address == "" {
		return s.ServeStream(c.Context(), c.InOrStdin(), c.OutOrStdout())
	}
	defer s.Close()
	return serve.ServePrograms(c.Context(), o.address, mcpPath, s.Handler(), func(url, key string) {
		fmt.Fprintf(c.ErrOrStderr(), "kir: serving at %s\nkir: the token is %s\nkir: send it in the header Authorization: Bearer TOKEN; Ctrl-C ends\n", url, key)
	})
}

// runInProcess runs a command for a tool of kir mcp.
func runInProcess(ctx context.Context, of mcpserver.Command) error {
	ctx = context.WithValue(ctx, workObserverKey{}, workObserver(of.Observe))
	if of.Text != nil {
		ctx = context.WithValue(ctx, resultTextKey{}, of.Text)
	}
	return execute(ctx, of.Args, of.Stdout, of.Stderr)
}
