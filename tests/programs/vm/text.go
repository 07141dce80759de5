package main

import "strings"

func lines(s string) []string { return strings.Split(strings.TrimSuffix(s, "\n"), "\n") }

// last is the end of a text.
func last(s string, n int) string { return s[max(0, len(s)-n):] }
