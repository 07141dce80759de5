// Package debian fetches arm64 packages and sources of any Debian suite (this machine's own, where that is asked for) with the machine's apt, under a private
// configuration: nothing is installed and the machine's own package state is not touched. Apt checks the signed
// indexes and every file's checksum, and takes up broken-off downloads where they ended.
package debian

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"text/template"
)

// suite is one release's private apt state.
type suite struct {
	name string
	dir  string
	conf string // apt.conf
}

var aptConf = template.Must(template.New("apt.conf").Parse(`Dir::State "{{.Dir}}/state";
Dir::State::status "{{.Dir}}/status";
Dir::Cache "{{.Dir}}/cache";
Dir::Etc::sourcelist "{{.Dir}}/sources.list";
Dir::Etc::sourceparts "{{.Dir}}/none";
Dir::Etc::preferences "{{.Dir}}/none/preferences";
Dir::Etc::preferencesparts "{{.Dir}}/none";
APT::Architecture "{{.Arch}}";
#clear APT::Architectures;
APT::Architectures { "{{.Arch}}"; };
APT::Install-Recommends "false";
APT::Sandbox::User "root";
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
Acquire::Languages "none";
Acquire::Check-Valid-Until "false";
Acquire::ForceHash "SHA256";
Acquire::Retries "3";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
`))

// openSuite lays out the private state of a suite in a directory; it downloads nothing.
func openSuite(name, dir, arch string) (*suite, error) {
	mirror, err := Mirror()
	if err != nil {
		return nil, err
	}
	keys, err := keyring()
	if err != nil {
		return nil, err
	}
	s := &suite{name: name, dir: dir, conf: filepath.Join(dir, "apt.conf")}
	for _, sub := range []string{"state/lists/partial", "cache/archives/partial", "none", "files"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return nil, fmt.Errorf("suite %s: %w", name, err)
		}
	}
	f, err := os.Create(s.conf)
	if err != nil {
		return nil, fmt.Errorf("suite %s: %w", name, err)
	}
	defer f.Close()
	if err := aptConf.Execute(f, struct{ Dir, Arch string }{dir, arch}); err != nil {
		return nil, fmt.Errorf("suite %s: %w", name, err)
	}
	line := fmt.Sprintf("[signed-by=%s] %s %s main\n", keys, mirror, name)
	sources := "deb " + line + "deb-src " + line
	for file, text := range map[string]string{"sources.list": sources, "status": ""} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			return nil, fmt.Errorf("suite %s: %w", name, err)
		}
	}
	return s, nil
}

// update fetches the suite's indexes.
func (s *suite) update(ctx context.Context) error {
	Progress("fetching the package index of Debian %s", s.name)
	_, err := s.apt(ctx, "apt-get", "update", "-qq")
	return err
}
