package cases

// Request is what the program in the VM is asked to do.
type Request struct {
	Seed     uint64
	Configs  []string // generated cases, Ops for each
	Ops      int
	First    int  // skip so many rounds of one case for each configuration
	Skip     int  // so many configurations of the first round, which are done
	Stride   int  // only every so many rounds; 0 as 1
	GoOn     bool // where time runs out, another VM does the rest
	PerCase  int
	Kept     []Kept // cases given as they are
	Shrink   int    // how many differences to make small
	Seconds  int    // stop beginning new cases after so long
	ShrinkIn int    // seconds for one difference
}

// Kept is a case as text.
type Kept struct {
	Name, Config, Text string
}

// Figures are those of one configuration.
type Figures struct {
	Ops        int // operations of the scripts
	Cases      int
	Mismatches int // cases that differ
	Unsteady   int // cases where two runs under PRoot alone go different ways
	Masked     int // results and files that PRoot answers by chance: see vm/chance.go, and those that two runs under PRoot alone do not have in common
	Calls      int // operations that are one call that PRoot could have stopped
	Answered   int // those of them without a stop, under PRoot with svcrelay
	Alone      int // those of them without a stop, under PRoot alone
	Counts     map[string]*Count
	Stats      map[string]int // of the library, summed
	Seconds    map[string]float64
}

// Count is about one operation: how often it was done, and how often without a stop, with svcrelay and under PRoot alone.
type Count struct{ Calls, Answered, Alone int }

// Mismatch is one difference. It is a part of the report, too.
type Mismatch struct {
	Config   string `json:"config"`
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	Alone    string `json:"alone"` // how the first difference looks, under PRoot alone
	With     string `json:"with"`
	Native   string `json:"native,omitempty"` // the same place without PRoot
	Case     string `json:"case"`             // the smallest case that was found, as text
	Size     int    `json:"size,omitempty"`   // its operations; 0: it is the case as it was found
	Original int    `json:"original"`         // those of the case as it was found
}

// Reply is what comes back.
type Reply struct {
	Configs    map[string]*Figures
	Mismatches []Mismatch
	Problems   []string // cases that could not be run
	Unsteady   []string // how two runs under PRoot alone differed
	Masks      []string // some of the results that two runs under PRoot alone do not have in common
	Kept       int      // how many of the cases that were given are done
	Next       int      // the round that is next, where time ran out
	NextSkip   int      // how many configurations of that round are done
	Done       bool     // nothing was left out for lack of time
}

// Add adds what another VM found.
func (r *Reply) Add(more *Reply) {
	for name, f := range more.Configs {
		have := r.Configs[name]
		if have == nil {
			r.Configs[name] = f
			continue
		}
		have.Ops += f.Ops
		have.Cases += f.Cases
		have.Mismatches += f.Mismatches
		have.Unsteady += f.Unsteady
		have.Masked += f.Masked
		have.Calls += f.Calls
		have.Answered += f.Answered
		have.Alone += f.Alone
		for op, n := range f.Counts {
			if have.Counts[op] == nil {
				have.Counts[op] = &Count{}
			}
			have.Counts[op].Calls += n.Calls
			have.Counts[op].Answered += n.Answered
			have.Counts[op].Alone += n.Alone
		}
		for what, n := range f.Stats {
			have.Stats[what] += n
		}
		for what, n := range f.Seconds {
			have.Seconds[what] += n
		}
	}
	r.Mismatches = append(r.Mismatches, more.Mismatches...)
	r.Problems = append(r.Problems, more.Problems...)
	r.Unsteady = append(r.Unsteady, more.Unsteady...)
	r.Masks = append(r.Masks, more.Masks...)
	r.Kept += more.Kept
	r.Next, r.NextSkip, r.Done = more.Next, more.NextSkip, more.Done
}
