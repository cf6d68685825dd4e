package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"kir/internal/compile"
	"kir/internal/config/change"
	"kir/internal/inputerr"
	"kir/internal/report"
	"kir/internal/run"
	"kir/internal/serve"
	"kir/internal/terminal"
	"kir/mcmc"
)

// serveOptions are the flags of kir serve.
type serveOptions struct {
	pageOptions serve.Options
	noOpen      bool
}

func newServeCommand() *cobra.Command {
	o := &serveOptions{}
	c := &cobra.Command{
		Use:   "serve [TABLE|PROBLEM|RUN]",
		Short: "Build and change a problem on a page in your browser",
		Long: `Turn a spreadsheet into a problem file, and change it, on a page in your browser.
Without an argument, drop or paste a table on the page, or choose an example; kir writes
the files into a new directory in the working directory. With TABLE, such as
recipes.xlsx, kir opens it and writes recipes.yaml beside it. The page shows how kir
reads the columns and asks you to confirm. It then writes the same problem file as kir
init. kir writes nothing before you click Go, and overwrites nothing.

With PROBLEM or RUN, the page shows the list of the best recipes (shortlist) as it
grows. Require ingredients, fix amounts, change objectives, or tell which of two recipes
you prefer. The page keeps each change as a step of its history. Save a step as a
problem file, and kir sample gives the same shortlist.

The page also runs a campaign, with the files of kir next and kir record: it chooses the
next batch of recipes, records their results, and advises whether to go on.

Only you can open the page: the printed address contains a secret that works once, in
one browser tab. --address 0.0.0.0:8080 serves the page to your network, unencrypted:
anyone who listens can read the secret and act as you. Encrypt it with --tls-cert and
--tls-key, or ask your administrator for an encrypted (SSH) tunnel to this machine.
External programs run only after you have seen the command and allowed it. Ctrl-C stops
kir serve; the steps stay beside the problem: for problem.yaml, in problem.steps.json.`,
		Example: `  kir serve
  kir serve recipes.xlsx
  kir serve examples/cocktails/bar.yaml
  kir serve runs/fresh-all-day-cocktails-1 --no-open
  kir serve problem.yaml --address 192.168.1.5:8080 --allow-host studio.lan --tls-cert studio.pem --tls-key studio.key`,
		Args:              allowOneArg("table, problem file or run directory"),
		ValidArgsFunction: completeTablesAndProblems,
		RunE:              o.run,
	}
	o.addFlags(c)
	return c
}

func (o *serveOptions) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&o.pageOptions.Address, "address", "127.0.0.1:0", "address of the page, `HOST:PORT`; port 0: kir chooses; on a network, use --tls-cert")
	c.Flags().StringSliceVar(&o.pageOptions.Hosts, "allow-host", nil, "another `NAME` by which browsers may open the page, such as studio.lan")
	c.Flags().StringVar(&o.pageOptions.TLSCert, "tls-cert", "", "encrypt the page (TLS) with the certificate in this `FILE` (PEM)")
	c.Flags().StringVar(&o.pageOptions.TLSKey, "tls-key", "", "`FILE` with the private key of the certificate (PEM)")
	must(c.MarkFlagFilename("tls-cert", "pem", "crt", "cer"))
	must(c.MarkFlagFilename("tls-key", "pem", "key"))
	c.Flags().BoolVar(&o.noOpen, "no-open", false, "open no browser")
}

// run starts a web server for a page. With a problem, it is the page of the problem; otherwise it is the page
// on which the user makes a problem from a table.
func (o *serveOptions) run(c *cobra.Command, args []string) error {
	o.pageOptions.TryKernels = true
	o.pageOptions.Version = currentBuild().Version
	o.pageOptions.Run = runStep
	if len(args) == 0 {
		return o.serveSetup(c, "The page for a table", serve.SetupOptions{Dir: "."})
	}
	if serve.IsTable(args[0]) && !isRun(args[0]) {
		return o.serveSetup(c, args[0], serve.SetupOptions{Table: args[0]})
	}
	return o.serveProblem(c, args[0])
}

// serveSetup serves the page on which the user makes a problem from a table.
func (o *serveOptions) serveSetup(c *cobra.Command, name string, setup serve.SetupOptions) error {
	o.announcePage(c, name)
	return toInputError(serve.ServeSetup(c.Context(), o.pageOptions, setup))
}

// serveProblem serves the page of a problem. The location holds a problem file or a run.
func (o *serveOptions) serveProblem(c *cobra.Command, location string) error {
	s, err := readSource(c, location)
	if err != nil {
		return err
	}
	o.pageOptions.File = s.problemFile
	if s.run != nil {
		if o.pageOptions.Text, err = change.Apply(s.problemFile, s.Text, s.settingChanges(func(*mcmc.Settings) {}, nil)...); err != nil {
			return err
		}
	}
	o.announcePage(c, s.Name)
	if w := c.ErrOrStderr(); isTerminal(w) {
		newLogger(w, false)("reading " + o.pageOptions.File + "; then the page opens")
	}
	return toInputError(serve.Serve(c.Context(), o.pageOptions))
}

// announcePage arranges that, when the page is ready, kir prints its address and opens it in the browser.
func (o *serveOptions) announcePage(c *cobra.Command, name string) {
	o.pageOptions.OnNewAddress = func(address string) {
		fmt.Fprintf(c.OutOrStdout(), "Opened. To open it in another tab, use %s\n", address)
	}
	o.pageOptions.OnReady = func(address, door string) {
		fmt.Fprintf(c.OutOrStdout(), "%s is at %s\n", terminal.EscapeControls(name), address)
		if o.pageOptions.IsUnencrypted() {
			fmt.Fprintln(c.OutOrStdout(), "It is not encrypted: whoever can listen to the network can read it and use it. --tls-cert and --tls-key encrypt it.")
		}
		fmt.Fprintln(c.OutOrStdout(), "Ctrl-C ends it.")
		if !o.noOpen {
			if err := openBrowser(door); err != nil {
				newLogger(c.ErrOrStderr(), false)(fmt.Sprintf("no browser was opened: %v", err))
			}
		}
	}
}

// runStep runs one version of the problem on the served page, as kir sample does, but writes no HTML page of
// the run.
func runStep(ctx context.Context, p *compile.Problem, dir string, progress func(run.Progress)) (*report.Model, error) {
	spec, err := newSpec(p, dir)
	if err != nil {
		return nil, err
	}
	store, err := openStore(dir)
	if err != nil {
		return nil, err
	}
	result, err := run.Start(ctx, spec, store, run.Options{Progress: progress})
	if err != nil {
		return nil, explainFailure(ctx, err, p, store)
	}
	return writeReport(ctx, p, store, result, nil, false)
}

// openBrowser opens a file or a web address in the user's browser.
func openBrowser(path string) error {
	var command *exec.Cmd
	switch runtime.GOOS {
	case "darwin":
		command = exec.Command("open", path)
	case "windows":
		command = exec.Command("rundll32", "url.dll,FileProtocolHandler", path)
	default:
		command = exec.Command("xdg-open", path)
	}
	if err := command.Start(); errors.Is(err, exec.ErrNotFound) {
		return &inputerr.Error{Message: command.Path + " is not there", Hint: "open the address by hand, or say --no-open", Err: err}
	} else if err != nil {
		return err
	}
	go func() { _ = command.Wait() }() // what becomes of the browser is no concern of ours
	return nil
}
