package programs

import (
	"fmt"
	"strings"
)

// Mark begins the lines of the VM's console that are about programs.
const Mark = "programs: "

// Line says in one line what became of a program.
func Line(p *Result) string {
	s := p.With.Stats
	if s == nil {
		s = &Stats{}
	}
	answered, all := s.Paths()
	same := "the same with svcrelay"
	if len(p.Differences) > 0 {
		same = fmt.Sprintf("%d DIFFERENCES with svcrelay", len(p.Differences))
	}
	native := ""
	if p.Native.Status != "" {
		native = fmt.Sprintf("%.1f s without PRoot, ", p.Native.Seconds)
	}
	return fmt.Sprintf("%s: %s, %s; %d of %d calls answered (%.1f %%); %s%.1f s under PRoot, %.1f s with svcrelay", p.Name, p.Alone.Status, same,
		answered, all, 100*s.Share(), native, p.Alone.Seconds, p.With.Seconds)
}

// Table writes the results for people, as a table of Markdown.
func Table(r *Reply) string {
	var b strings.Builder
	b.WriteString("\n| program | answered | not answered | share | PRoot's stops alone | with | seconds native | PRoot | svcrelay |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, p := range r.Results {
		s := p.With.Stats
		if s == nil {
			s = &Stats{}
		}
		answered, all := s.Paths()
		fmt.Fprintf(&b, "| %s | %d | %d | %.1f %% | %d | %d | %.1f | %.1f | %.1f |\n", p.Name, answered, all-answered, 100*s.Share(), p.Alone.Stops, p.With.Stops,
			p.Native.Seconds, p.Alone.Seconds, p.With.Seconds)
	}
	for _, p := range r.Results {
		if p.With.Stats != nil {
			if rest := p.With.Stats.Rest(); len(rest) > 0 {
				fmt.Fprintf(&b, "%s: %s\n", p.Name, strings.Join(rest, ", "))
			}
		}
	}
	fmt.Fprintf(&b, "seconds in the VM: %v\n", r.Seconds)
	return b.String()
}
