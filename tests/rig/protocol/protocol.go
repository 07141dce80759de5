// Package protocol is what the host and the program inside the VM agree on: a job goes in as JSON inside the
// initramfs, and a tar archive with the report and the files comes back on a disk.
package protocol

import "time"

// Names inside the VM and inside the returned archive.
const (
	Dir        = "/rig"          // everything of the rig's own inside the VM
	JobPath    = "/rig/job.json" // the Job
	ModuleDir  = "/rig/modules"  // kernel modules, loaded in the order of Job.Modules
	OutputDisk = "/dev/vda"      // where the archive is written
	ReportName = "report.json"   // first entry of the archive: the Report
	FilePrefix = "files"         // prefix of returned files in the archive, before their absolute path
	EndName    = "end"           // last entry: without it the archive is incomplete
)

// Job is what the VM has to do.
type Job struct {
	Modules  []string  // file names in ModuleDir
	Commands []Command // run one after the other
	Return   []string  // globs of VM paths to bring back
	KeepOn   bool      // go on after a command that failed
}

// Command is one program to run.
type Command struct {
	Name    string        // for messages; default: the program
	Argv    []string      // program (absolute, or found in Env's PATH) and its arguments
	Env     []string      // NAME=value; nil: a small default environment
	Dir     string        // working directory, inside Root; default /
	Root    string        // change root to this directory first, with /proc, /sys, /dev in place
	Stdin   []byte        // standard input; nil: /dev/null
	Timeout time.Duration // in the VM's own time; default 10 minutes
	UID     int           // user and group to run as
	GID     int
}

// Outcome is what became of one command.
type Outcome struct {
	Name     string
	Status   int           // exit status; 128+signal when killed by one; -1 when it could not be started
	Problem  string        // why it could not be started or had to be killed, else empty
	Elapsed  time.Duration // in the VM's time: with an instruction-counted clock 1 ns is one instruction
	Switches int64         // voluntary context switches of the program and the children it waited for
	Stdout   []byte
	Stderr   []byte
}

// Report is what the VM says at the end.
type Report struct {
	Kernel   string // uname -r
	PageSize int
	Outcomes []Outcome
}
