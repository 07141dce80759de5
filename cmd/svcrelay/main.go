// Command svcrelay starts PRoot so that the guest's programs may answer their own file system calls, and puts the
// library that does it into a rootfs.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"svcrelay/cmd/svcrelay/internal/launch"
)

const usage = `svcrelay makes programs under PRoot faster: calls such as stat and open are answered inside the
program instead of stopping it for PRoot. PRoot itself stays as it is.

Usage:
  svcrelay install [options] ROOTFS        put the library into a rootfs (once)
  svcrelay run [options] [--] proot ARGS   run PRoot, with ARGS as you give them to PRoot
  svcrelay scan [options] FILE...          say what is redirected in a C library, and what not
  svcrelay version                         say which version this is
  svcrelay help [COMMAND]                  this text, or that of a command

Example:
  svcrelay install ./debian
  svcrelay run proot -r ./debian -b /dev -b /proc -b /sys -w / /bin/bash
`

// exit statuses of svcrelay itself, as shells use them. With "run", every other status is PRoot's.
const (
	exitFailure  = 1
	exitUsage    = 2
	exitCannot   = 126
	exitNotFound = 127
)

// errUsage marks a mistake on the command line.
var errUsage = errors.New("see svcrelay help")

func main() {
	os.Exit(command(os.Args[1:], os.Stdout, os.Stderr))
}

// command runs one command and returns the exit status.
func command(args []string, out, errs io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(errs, usage)
		return exitUsage
	}
	name, args := args[0], args[1:]
	if name == "help" && len(args) > 0 {
		name, args = args[0], []string{"--help"}
	}
	var err error
	switch name {
	case "run":
		return run(args, out, errs)
	case "install":
		err = install(args, out, errs)
	case "scan":
		err = scanLibraries(args, out, errs)
	case "version", "--version":
		err = printVersion(args, out)
	case launch.CreateCommand:
		if len(args) == 1 {
			return launch.Created(launch.CreateFile(args[0]))
		}
		err = errUsage
	case "help", "-h", "--help":
		fmt.Fprint(out, usage)
	default:
		err = fmt.Errorf("there is no command %q: %w", name, errUsage)
	}
	return status(errs, err)
}

// status reports an error and turns it into an exit status.
func status(errs io.Writer, err error) int {
	switch {
	case err == nil || errors.Is(err, pflag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		fmt.Fprintln(errs, "svcrelay:", err)
		return exitUsage
	}
	fmt.Fprintln(errs, "svcrelay:", err)
	return exitFailure
}

// flags makes a set of options with a help text.
func flags(name, text string, out io.Writer) *pflag.FlagSet {
	f := pflag.NewFlagSet(name, pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() { fmt.Fprintf(out, "%s\nOptions:\n%s", text, f.FlagUsages()) }
	f.SortFlags = false
	return f
}

// parse reads options; a mistake is an errUsage.
func parse(f *pflag.FlagSet, args []string) error {
	if err := f.Parse(args); err != nil && !errors.Is(err, pflag.ErrHelp) {
		return fmt.Errorf("%v: %w %s", err, errUsage, f.Name())
	} else {
		return err
	}
}
