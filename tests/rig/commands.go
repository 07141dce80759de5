package rig

import "svcrelay/tests/rig/guest"

// Native returns the command that runs argv in a guest without PRoot, by changing root.
func Native(name string, argv ...string) Command {
	return Command{Root: guest.Root(name), Argv: argv}
}

// UnderPRoot returns the command that runs argv in a guest under PRoot, with the kernel's file systems bound and
// options before them.
func UnderPRoot(name string, options []string, argv ...string) Command {
	return Command{Argv: append(PRootArgs(name, options), argv...)}
}

// PRootArgs returns PRoot's command line up to where the program goes.
func PRootArgs(name string, options []string) []string {
	args := append([]string{PRootPath}, options...)
	return append(args, "-r", guest.Root(name), "-b", "/proc", "-b", "/dev", "-b", "/sys", "-w", "/")
}

// Shell returns the arguments that run a line of shell.
func Shell(line string) []string { return []string{"/bin/sh", "-c", line} }
