// Package withdraw holds the tests of what must end: after calls that make PRoot's view another one, or let somebody else see
// system calls, no process of the session answers from the old view, and all others go on answering.
package withdraw
