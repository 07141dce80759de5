// Package reject holds functions that are outside the freestanding subset. A
// comment "// want" names, as regular expressions, what the compiler must say
// about its line; it must say nothing else.
package reject
