// Package cases describes one comparison: the files there are, how PRoot is started, and the operations. A case is
// also a text, so that one that showed a difference can be kept as a test.
package cases

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Where things are in the VM. Everything below Top is made afresh for every run.
const (
	Top      = "/world"
	Root     = Top + "/root" // the guest's root
	Program  = "/equiv"      // the executor, in the guest
	Dev      = Top + "/dev"  // bound to /dev of the guest
	Streams  = Top + "/std"  // standard input and output of PRoot are the files in and out here
	LogFD    = 900           // the descriptor of the log in the guest: no binding of a stream leads to it
	Elsewhen = 1000000000    // the time of all files of a new world
)

// Kind is the kind of a file.
type Kind byte

// The kinds, as they are written.
const (
	Dir    Kind = 'd'
	File   Kind = 'f'
	Link   Kind = 'l'
	FIFO   Kind = 'p'
	Socket Kind = 's'
	Hard   Kind = 'h' // another name for Text, a path like Path
)

// Entry is one file of the world.
type Entry struct {
	Kind     Kind
	Path     string // in the VM, below Top
	Mode     uint32
	UID, GID int
	Text     string // of a file or link
}

// Case is one comparison.
type Case struct {
	Name    string
	Note    string   // what it is about
	Options []string // PRoot's, besides the rootfs and the bindings of /proc and /dev
	Env     []string // additional variables of PRoot and the guest
	UID     int      // who runs PRoot, as user and group
	Mounts  []string // directory below Top, colon, absolute path outside: shown there too
	World   []Entry
	Script  []string
}

// Format writes the case as text.
func (c *Case) Format() string {
	var b strings.Builder
	for _, l := range strings.Split(strings.TrimSpace(c.Note), "\n") {
		if l != "" {
			fmt.Fprintf(&b, "# %s\n", l)
		}
	}
	fmt.Fprintf(&b, "uid %d\n", c.UID)
	for _, list := range []struct {
		word string
		of   []string
	}{{"option", c.Options}, {"env", c.Env}, {"mount", c.Mounts}} {
		for _, s := range list.of {
			fmt.Fprintf(&b, "%s %s\n", list.word, strconv.Quote(s))
		}
	}
	for _, e := range c.World {
		fmt.Fprintf(&b, "%c %04o %d %d %s", e.Kind, e.Mode, e.UID, e.GID, strconv.Quote(e.Path))
		if e.Text != "" {
			fmt.Fprintf(&b, " %s", strconv.Quote(e.Text))
		}
		b.WriteByte('\n')
	}
	b.WriteString("script\n")
	for _, l := range c.Script {
		b.WriteString(l)
		b.WriteByte('\n')
	}
	return b.String()
}

// errBytes is for what JSON, in which cases go to the VM, would change.
var errBytes = errors.New(`this is not UTF-8: write other bytes as \xNN`)

// Parse reads what Format wrote. All of it may be indented, as go test shows it.
func Parse(name, text string) (*Case, error) {
	c := &Case{Name: name}
	first := strings.TrimLeft(text, "\r\n")
	indent := first[:len(first)-len(strings.TrimLeftFunc(first, unicode.IsSpace))]
	n := 0
	for l := range strings.Lines(text) {
		n++
		err := errBytes
		if utf8.ValidString(l) {
			err = c.line(strings.TrimRight(strings.TrimPrefix(l, indent), "\r\n"))
		}
		if err != nil {
			return nil, fmt.Errorf("case %s, line %d: %w", name, n, err)
		}
	}
	if c.Script == nil {
		return nil, fmt.Errorf("case %s: no script", name)
	}
	return c, nil
}

func (c *Case) line(l string) error {
	if c.Script != nil {
		if l != "" {
			c.Script = append(c.Script, l)
		}
		return nil
	}
	word, rest, _ := strings.Cut(l, " ")
	switch {
	case l == "":
		return nil
	case word == "#":
		c.Note += rest + "\n"
		return nil
	case word == "script":
		c.Script = []string{}
		return nil
	case word == "uid":
		_, err := fmt.Sscan(rest, &c.UID)
		return err
	case word == "option" || word == "env" || word == "mount":
		s, err := strconv.Unquote(rest)
		list := map[string]*[]string{"option": &c.Options, "env": &c.Env, "mount": &c.Mounts}[word]
		*list = append(*list, s)
		return err
	case len(word) == 1:
		return c.entry(Kind(word[0]), rest)
	}
	return fmt.Errorf("unknown word %q", word)
}

func (c *Case) entry(k Kind, rest string) error {
	e := Entry{Kind: k}
	f := strings.SplitN(rest, " ", 4)
	if len(f) != 4 {
		return fmt.Errorf("want mode, user, group and path, got %q", rest)
	}
	mode, err := strconv.ParseUint(f[0], 8, 32)
	if err != nil {
		return err
	}
	e.Mode = uint32(mode)
	if e.UID, err = strconv.Atoi(f[1]); err != nil {
		return err
	}
	if e.GID, err = strconv.Atoi(f[2]); err != nil {
		return err
	}
	quoted, err := strconv.QuotedPrefix(f[3])
	if err != nil {
		return err
	}
	if e.Path, err = strconv.Unquote(quoted); err != nil {
		return err
	}
	if more := strings.TrimSpace(f[3][len(quoted):]); more != "" {
		if e.Text, err = strconv.Unquote(more); err != nil {
			return err
		}
	}
	c.World = append(c.World, e)
	return nil
}
