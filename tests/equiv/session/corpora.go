package session

import (
	"svcrelay/tests/equiv/cases"
	"svcrelay/tests/equiv/gen"
)

// Corpora returns the hand-written cases as text, with every nth path.
func Corpora(nth int) ([]cases.Kept, error) {
	read, err := gen.Read(nth)
	if err != nil {
		return nil, err
	}
	var out []cases.Kept
	for _, c := range read {
		out = append(out, cases.Kept{Name: c.Name, Config: "corpus for reading", Text: c.Format()})
	}
	for _, c := range gen.Write(nth) {
		out = append(out, cases.Kept{Name: c.Name, Config: "corpus for writing", Text: c.Format()})
	}
	return out, nil
}
