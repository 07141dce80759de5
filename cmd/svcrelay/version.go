package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// version is set by the release build: -ldflags "-X main.version=...".
var version = ""

// printVersion says which version this is.
func printVersion(args []string, out io.Writer) error {
	if len(args) > 0 {
		return fmt.Errorf("svcrelay version takes no arguments: %w", errUsage)
	}
	v := version
	if v == "" {
		v = "development"
		if info, ok := debug.ReadBuildInfo(); ok {
			for _, s := range info.Settings {
				if s.Key == "vcs.revision" {
					v += " " + s.Value[:min(len(s.Value), 12)]
				}
			}
		}
	}
	_, err := fmt.Fprintf(out, "svcrelay %s (%s/%s)\n", v, runtime.GOOS, runtime.GOARCH)
	return err
}
