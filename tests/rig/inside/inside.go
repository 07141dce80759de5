// Package inside is the main function of programs of the source tree that run in the VM: each is given a request, and gives a
// reply, both as JSON. See product.AddProgram for the other side.
package inside

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Where things are in the VM: the request, beside the program, the reply, and what package product adds.
const (
	RequestName = "request.json"
	ReplyPath   = "/tmp/reply.json"
	Command     = "/opt/svcrelay/svcrelay"
	Shim        = "/opt/svcrelay/libsvcrelay-tracer.so"
	Library     = "/usr/lib/libsvcrelay.so" // in each guest
)

// Main reads the request, has it served and writes the reply.
func Main[Request, Reply any](serve func(Request) (Reply, error)) {
	if err := answer(serve); err != nil {
		fmt.Fprintln(os.Stderr, "inside the VM:", err)
		os.Exit(1)
	}
}

func answer[Request, Reply any](serve func(Request) (Reply, error)) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(self), RequestName))
	if err != nil {
		return err
	}
	var req Request
	if err := json.Unmarshal(text, &req); err != nil {
		return err
	}
	reply, err := serve(req)
	if err != nil {
		return err
	}
	if text, err = json.Marshal(reply); err != nil {
		return err
	}
	return os.WriteFile(ReplyPath, text, 0o644)
}
