//go:build linux

// Command vm compares, inside the test VM: it generates cases, runs each on fresh copies of one world under PRoot and
// under PRoot with svcrelay, makes those that differ as small as it can, and writes a report.
package main

import (
	"fmt"
	"strings"
	"time"

	"svcrelay/tests/equiv/cases"
	"svcrelay/tests/equiv/gen"
	"svcrelay/tests/rig/bare"
	"svcrelay/tests/rig/inside"
)

func main() {
	bare.Main(mountWorld)
	inside.Main(serve)
}

func serve(req cases.Request) (*cases.Reply, error) {
	stock, err := readStock()
	if err != nil {
		return nil, err
	}
	w := worker{Request: req, stock: stock, reply: cases.Reply{Configs: map[string]*cases.Figures{}, Done: true}, seen: map[string]int{}}
	w.end = time.Now().Add(time.Duration(w.Seconds) * time.Second)
	w.reply.Next, w.reply.NextSkip = w.First, w.Skip
	w.work()
	return &w.reply, nil
}

type worker struct {
	cases.Request
	stock stock
	reply cases.Reply
	seen  map[string]int // differences by configuration, kind and how they look
	end   time.Time
}

func (w *worker) work() {
	for _, k := range w.Kept {
		c, err := cases.Parse(k.Name, k.Text)
		if err != nil {
			w.reply.Problems = append(w.reply.Problems, err.Error())
			w.reply.Kept++
			continue
		}
		if !w.one(k.Config, c) {
			return
		}
		w.reply.Kept++
	}
	// A little of each configuration in turn: when time runs out, all had their share.
	for n := w.First; n*w.PerCase < w.Ops; n += max(1, w.Stride) {
		w.reply.Next = n
		for i, config := range w.Configs {
			if n == w.First && i < w.Skip {
				continue
			}
			w.reply.NextSkip = i
			c, err := gen.Case(config, w.Seed+uint64(n), w.PerCase)
			if err != nil {
				w.reply.Problems = append(w.reply.Problems, err.Error())
				return
			}
			if !w.one(config, c) {
				return
			}
		}
	}
}

// both runs a case under PRoot and under PRoot with svcrelay.
func (s stock) both(c *cases.Case) (a, b *outcome, err error) {
	if a, err = s.run(c, alone); err != nil {
		return nil, nil, err
	}
	if b, err = s.run(c, with); err != nil {
		return nil, nil, err
	}
	agree(a, b)
	return a, b, nil
}

// one compares one case. It returns false when there is no time for more.
func (w *worker) one(config string, c *cases.Case) bool {
	if time.Now().After(w.end) {
		w.reply.Done = false
		return false
	}
	f := w.tally(config)
	begin := time.Now()
	a, err := w.stock.run(c, alone)
	f.Seconds["alone"] += time.Since(begin).Seconds()
	begin = time.Now()
	var b *outcome
	if err == nil {
		b, err = w.stock.run(c, with)
	}
	f.Seconds["with"] += time.Since(begin).Seconds()
	if err != nil {
		w.reply.Problems = append(w.reply.Problems, c.Name+": "+err.Error())
		return len(w.reply.Problems) < 10
	}
	f.add(c, a, b)
	if len(a.log) < 2 || !strings.HasPrefix(a.log[len(a.log)-1], "end") {
		f.Unsteady++ // PRoot itself got stuck: there is nothing to compare with
		w.reply.Unsteady = append(w.reply.Unsteady, fmt.Sprintf("%s: under PRoot alone it did not reach its end: %s, %q, last %q", c.Name, a.status, a.errs, line(a.log, len(a.log)-1)))
		return true
	}
	f.Masked += agree(a, b)
	d := compare(a, b)
	if d.Kind == "" {
		return true
	}
	begin = time.Now()
	defer func() { f.Seconds["looking into differences"] += time.Since(begin).Seconds() }()
	var u unsteady
	for range 2 {
		again, err := w.stock.run(c, alone)
		if err != nil {
			w.reply.Problems = append(w.reply.Problems, c.Name+": "+err.Error())
			return true
		}
		agree(a, again)
		u.add(a, again)
		if u.all {
			f.Unsteady++
			d := compare(a, again)
			w.reply.Unsteady = append(w.reply.Unsteady, fmt.Sprintf("%s: two runs under PRoot alone differ: %s: %q", c.Name, d.Kind, d.Text))
			return true
		}
		if d = compare(a.without(u), b.without(u)); d.Kind == "" {
			f.Masked += len(u.lines) + len(u.files)
			w.reply.Masks = append(w.reply.Masks, u.examples(c.Name, a, b)...)
			return true
		}
	}
	f.Mismatches++
	w.differs(config, c, a, d, u)
	return true
}

// differs reports a difference, the first few of a kind made small.
func (w *worker) differs(config string, c *cases.Case, a *outcome, d difference, u unsteady) {
	m := cases.Mismatch{Config: config, Name: c.Name, Kind: d.Kind, Alone: d.Text[0], With: d.Text[1], Case: c.Format(), Original: len(c.Script)}
	look := config + " " + d.Kind + " " + result(d.Text[0]) + result(d.Text[1])
	w.seen[look]++
	if len(w.reply.Mismatches) < w.Shrink && w.seen[look] <= 2 {
		until := time.Now().Add(time.Duration(w.ShrinkIn) * time.Second)
		if until.After(w.end) {
			until = w.end
		}
		if len(u.lines) > 0 {
			c, d = w.stock.steady(c, a, d, u)
		}
		small := w.stock.shrink(c, d, until)
		if a, b, err := w.stock.both(small); err == nil {
			if now := compare(a, b); now.Kind != "" {
				m.Alone, m.With = now.Text[0], now.Text[1]
				if n, err := w.stock.run(small, native); err == nil && now.At >= 0 {
					m.Native = nativeLine(n, now.At)
				}
			}
		}
		m.Case, m.Size = small.Format(), len(small.Script)
	} else if w.seen[look] > 2 {
		return
	}
	w.reply.Mismatches = append(w.reply.Mismatches, m)
}

// steady leaves out the operations that are unsteady, if the difference is there without them.
func (s stock) steady(c *cases.Case, a *outcome, d difference, u unsteady) (*cases.Case, difference) {
	leave := map[int]bool{}
	for i := range u.lines {
		var at int
		if _, err := fmt.Sscanf(a.log[i], "%d ", &at); err == nil {
			leave[at] = true
		}
	}
	try := *c
	try.Script = nil
	for i, l := range c.Script {
		if !leave[i] {
			try.Script = append(try.Script, l)
		}
	}
	if x, y, err := s.both(&try); err == nil {
		if now := compare(x, y); now.Kind != "" {
			return &try, now
		}
	}
	return c, d
}

// result is what follows the operation in a line of the log, cut short.
func result(l string) string {
	if _, r, ok := strings.Cut(l, " = "); ok {
		l = r
	}
	return l[:min(len(l), 12)]
}

func nativeLine(o *outcome, at int) string {
	for _, l := range o.log {
		if strings.HasPrefix(l, fmt.Sprint(at)+" ") {
			return l
		}
	}
	return ""
}

type tally struct{ *cases.Figures }

func (w *worker) tally(config string) tally {
	f := w.reply.Configs[config]
	if f == nil {
		f = &cases.Figures{Counts: map[string]*cases.Count{}, Stats: map[string]int{}, Seconds: map[string]float64{}}
		w.reply.Configs[config] = f
	}
	return tally{f}
}

// untraced are operations whose calls PRoot never stops.
var untraced = map[string]bool{"umask": true, "socket": true, "listen": true, "fcntl": true, "dup": true, "read": true, "write": true,
	"lseek": true, "inotify_init1": true, "ftruncate": true, "fchmod": true, "fchown": true, "futimens": true, "fstatfs": true,
	"getgroups": true, "sys_fchmod": true, "sys_fchown": true, "sys_fstatfs": true, "fgetxattr": true, "fsetxattr": true, "fremovexattr": true, "flistxattr": true,
	"sys_setresuid": true, "sys_setresgid": true, "sys_setfsuid": true, "sys_setfsgid": true,
	"getuid": true, "geteuid": true, "getgid": true, "getegid": true, "getresuid": true, "getresgid": true,
	"sys_getuid": true, "sys_geteuid": true, "sys_getgid": true, "sys_getegid": true, "sys_getresuid": true, "sys_getresgid": true}

func (f tally) add(c *cases.Case, a, b *outcome) {
	f.Ops += len(c.Script)
	f.Cases++
	for name, n := range b.took {
		f.Seconds["with: "+name] += n
	}
	f.Seconds["with: script"] += float64(b.counts["milliseconds"][0]) / 1000
	f.Seconds["alone: script"] += float64(a.counts["milliseconds"][0]) / 1000
	delete(b.counts, "milliseconds")
	for name, n := range b.counts {
		if untraced[name] {
			continue
		}
		if f.Counts[name] == nil {
			f.Counts[name] = &cases.Count{}
		}
		f.Counts[name].Calls += n[0]
		f.Counts[name].Answered += n[1]
		f.Counts[name].Alone += a.counts[name][1]
		f.Calls += n[0]
		f.Answered += n[1]
		f.Alone += a.counts[name][1]
	}
	for name, n := range b.stats {
		f.Stats[name] += n
	}
}
