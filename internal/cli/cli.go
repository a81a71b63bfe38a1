// Package cli is the remote-box command.
//
// Its rules: standard output is data, and whole lines; standard error is for people. A line on
// standard error that says what went wrong begins with "error: ", one that the user may ignore
// with "note: ". Every error says what to do where that is known. Nothing is asked; nothing is
// coloured. The exit code is 0 when everything is as it should be, 1 when something would be built
// or failed, and 2 when the command was not used right: flags, credentials, the env file.
//
// cmd/remote-box/testdata/script is its specification.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailed  = 1
	exitMisused = 2
)

// app is one run of the command.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	code           int // what the run comes to

	root        string // --root, then absolute
	envFile     string
	noEnvFile   bool // --env-file was not given
	initTimeout time.Duration
	jobs        int
	oneByOne    bool // the user did not ask for jobs at once
	json        bool
}

const about = `Remote-box finds the functions that a module's packages register with remote.New, and builds the
images that they run in. It does so by running the packages, never their main functions.

Standard output is data, standard error is for people. Exit codes: 0 everything is as it should be;
1 something is missing or failed; 2 the command was not used right, or credentials or the env file
are missing. In CI use a binary or "go tool remote-box": "go run" turns every exit code into 1.

Variables come from the environment and from the env file: --env-file FILE, which must exist, or
.env in the working directory if there is one; --env-file "" reads none. Variables that are set
already win, also those that are set to nothing. The file has lines NAME=value, with or without
"export" before them. # begins a comment at the start of a line or after a space. In 'single quotes'
everything stays as it is; in "double quotes" \n is a new line, and $NAME is the value of a variable
above, as it is without quotes; \$ is a $. A byte order mark and CRLF are no matter.`

// misuse is an error that is the user's to mend before anything can be done.
type misuse struct{ error }

// Run runs the command and returns its exit code.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr}
	cmd := a.command()
	cmd.SetArgs(args)
	cmd.SetIn(stdin)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.ExecuteContext(ctx)
	if ctx.Err() != nil {
		a.errorf("interrupted")
		return exitFailed
	}
	if err == nil {
		return a.code
	}
	if e, ok := errors.AsType[*failed](err); ok {
		if e.error != nil {
			a.errorf("%v", e.error)
		}
		return exitFailed
	}
	a.errorf("%v", err)
	if _, ok := errors.AsType[*misuse](err); !ok {
		fmt.Fprintf(stderr, "usage: see remote-box --help\n")
	}
	return exitMisused
}

// failed is an error that is not of the usage.
type failed struct{ error }

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:           "remote-box",
		Short:         "Build the images of a module's remote functions, and look after them",
		Long:          about,
		Version:       version(),
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return errors.New("which command? build, list, call, prune or doctor")
		},
	}
	root.SetVersionTemplate("remote-box {{.Version}}\n")
	flags := root.PersistentFlags()
	flags.StringVar(&a.root, "root", "", "`directory` of the module, to which packages are relative (default: here)")
	flags.StringVar(&a.envFile, "env-file", "", "`file` with environment variables; those that are set already win (default: .env here, if there is one)")
	flags.DurationVar(&a.initTimeout, "init-timeout", time.Minute, "how long packages may take to initialise")
	flags.IntVar(&a.jobs, "jobs", 4, "how many images to work on at once")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		a.oneByOne = !cmd.Flags().Changed("jobs")
		a.noEnvFile = !cmd.Flags().Changed("env-file")
		return a.prepare()
	}
	root.AddCommand(a.buildCommand(), a.listCommand(), a.callCommand(), a.pruneCommand(), a.doctorCommand())
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			// By itself it shows its help and succeeds, whatever it was given.
			c.RunE = func(*cobra.Command, []string) error {
				return errors.New("which shell? bash, zsh, fish or powershell")
			}
		}
	}
	return root
}

// prepare does what every command needs before it does anything.
func (a *app) prepare() error {
	if a.jobs < 1 {
		return errors.New("--jobs: at least 1")
	}
	if a.initTimeout <= 0 {
		return errors.New("--init-timeout: must be positive")
	}
	root, err := filepath.Abs(a.root)
	if err != nil {
		return err
	}
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return &misuse{fmt.Errorf("--root: %s is not a directory", a.root)}
	}
	a.root = root
	return a.loadEnv()
}

func (a *app) errorf(format string, args ...any) {
	fmt.Fprintf(a.stderr, "error: "+format+"\n", args...)
}

func (a *app) notef(format string, args ...any) { fmt.Fprintf(a.stderr, "note: "+format+"\n", args...) }

// worse makes the exit code at least code; a misuse is the worst, because it has to be mended
// first.
func (a *app) worse(code int) { a.code = max(a.code, code) }

// short is a file's name as people in the working directory would write it.
func short(file string) string {
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, file); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return file
}
