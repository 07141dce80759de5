package compile

import "golang.org/x/tools/go/ssa"

// escapes finds addresses of stack variables that may outlive their function or loop iteration.
type escapes struct {
	s *source
}

func newEscapes(s *source) *escapes { return &escapes{s: s} }

func (e *escapes) function(f *ssa.Function) {}
