package relay

import (
	"unsafe"

	"svcrelay/nocgo"
	"svcrelay/translate"
)

// config is what the environment says. Strings are memory of the environment itself.
type config struct {
	root, binds, key, log string
	modes                 string          // as written
	mode                  translate.Modes // what that means
	off, stats, unknown   bool
	nocache               bool   // sites are not kept
	exact                 bool   // svcrelay run has made the paths what PRoot made of them
	ttl                   uint64 // milliseconds
	api                   uint64 // 0: not known
}

const prefix = "PROOT_FP_"

// defaultTTL is how long a directory is remembered if the environment does not say, in milliseconds.
const defaultTTL = 2000

// load reads the configuration from the environment. A variable of the family that is not known here is a mode of
// PRoot that the relay cannot imitate.
func (c *config) load(p *process) {
	c.ttl = defaultTTL
	for at := p.envp; ; at += 8 {
		s := uintptr(nocgo.Load64(at))
		if s == 0 {
			return
		}
		if !p.readable(s, 1) || nocgo.Load8(s) != 'P' {
			continue
		}
		n, ok := p.length(s)
		if !ok {
			c.off = true
			return
		}
		c.variable(text(s, n))
	}
}

// variable takes one "NAME=value".
func (c *config) variable(s string) {
	if !hasPrefix(s, prefix) {
		return
	}
	eq := index(s, '=')
	if eq < 0 {
		return
	}
	name, value := s[len(prefix):eq], s[eq+1:]
	switch name {
	case "ROOT":
		c.root = value
	case "BINDS":
		c.binds = value
	case "MODES":
		c.modes = value
		if m, ok := readModes(value); ok {
			c.mode = m
		} else {
			c.unknown = true
		}
	case "KEY":
		c.key = value
	case "OFF":
		c.off = c.off || value != ""
	case "PATCH_SVC":
		c.off = c.off || value != "" && value != "1"
	case "SVC_CACHE":
		c.nocache = value == "0"
	case "TTL_MS":
		if value != "" {
			v, ok := number(value)
			if !ok || v > 1<<31 {
				c.off = true
			}
			c.ttl = v
		}
	case "ANDROID_API":
		if v, ok := number(value); ok && v < 1000 {
			c.api = v
		}
	case "STATS":
		c.stats = value == "1"
	case "LOG":
		c.log = value
	default:
		c.unknown = c.unknown || value != ""
	}
}

// wanted says whether the environment asks for anything at all.
func (c *config) wanted() bool {
	return !c.off && !c.unknown && c.root != "" && c.key != "" && c.root[0] == '/'
}

// text makes a string of memory that was found readable.
func text(addr, n uintptr) string { return unsafe.String((*byte)(nocgo.Ptr(addr)), int(n)) }

func hasPrefix(s, p string) bool { return len(s) >= len(p) && s[:len(p)] == p }

// index gives the first place of c in s, or -1.
func index(s string, c byte) int {
	for i := range len(s) {
		if s[i] == c {
			return i
		}
	}
	return -1
}

// number reads a decimal number.
func number(s string) (v uint64, ok bool) {
	if len(s) == 0 || len(s) > 18 {
		return 0, false
	}
	for i := range len(s) {
		d := s[i] - '0'
		if d > 9 {
			return 0, false
		}
		v = v*10 + uint64(d)
	}
	return v, true
}
