package artifacts

import (
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"svcrelay/relay/about"
)

// maxStack is how much stack an answer may take, in bytes: alternate signal stacks are not much larger.
const maxStack = 4096

// TestFigures reads what the library says it takes, and compares with the file around it.
func TestFigures(t *testing.T) {
	f := open(t, libraries[0])
	file, err := os.Open(built(t, libraries[0].name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	l, err := about.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if l.Stack > maxStack || l.Frame <= 0 || l.Scratch <= 0 || l.Stack != l.Frame+l.Scratch+int64(l.Entries["svcrelay_dispatch"]) {
		t.Errorf("stack: %d bytes = %d + %d + %d; at most %d are allowed", l.Stack, l.Frame, l.Scratch, l.Entries["svcrelay_dispatch"], maxStack)
	}
	if l.Entries["svcrelay_dispatch"] == 0 || l.Relays.Fixed == 0 || l.Relays.Any == 0 || l.Relays.Bridge == 0 || l.Relays.Head == 0 ||
		l.Relays.Own == 0 || l.Relays.Own > int(l.Sections[".text"]) || l.Relays.Sites < l.Relays.Places || l.Trampoline != 0xffff00000 {
		t.Errorf("figures missing: %+v", l.Figures)
	}
	if len(l.BuildID) != 40 {
		t.Errorf("build-id %q", l.BuildID)
	}
	for _, name := range []string{".text", ".rodata", ".bss", about.Section} {
		s := f.Section(name)
		if s == nil || l.Sections[name] != s.Size || s.Size == 0 {
			t.Errorf("%s has %d bytes by the description", name, l.Sections[name])
		}
	}
	var mapped, told uint64
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			mapped += p.Memsz
		}
	}
	for _, n := range l.Mapped {
		told += n
	}
	if told != mapped || l.Mapped["r-x"] == 0 || l.Mapped["rw-"] == 0 {
		t.Errorf("mapped %v, the segments have %d bytes", l.Mapped, mapped)
	}
}

// TestFiguresOfAnother asks a library that has none.
func TestFiguresOfAnother(t *testing.T) {
	file, err := os.Open(built(t, libraries[1].name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if l, err := about.Read(file); !errors.Is(err, about.ErrNoNote) {
		t.Errorf("got %+v, %v", l, err)
	}
}

// TestFiguresPrinted runs the command that people run.
func TestFiguresPrinted(t *testing.T) {
	command, lib := built(t, "svcrelay"), built(t, libraries[0].name)
	run := func(args ...string) []byte {
		out, err := exec.Command(command, append([]string{"scan", "--library", lib}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return out
	}
	var l about.Library
	if err := json.Unmarshal(run("--json"), &l); err != nil || l.Stack == 0 || l.Stack > maxStack || l.Sections[".text"] == 0 {
		t.Errorf("JSON: %+v, %v", l, err)
	}
	text := string(run())
	for _, want := range []string{fmt.Sprintf("%d  bytes of stack", l.Stack), fmt.Sprintf("%d  bytes of .bss", l.Sections[".bss"]), "r-x", "rw-", "trampoline page at 0xffff00000"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text has no %q:\n%s", want, text)
		}
	}
}
