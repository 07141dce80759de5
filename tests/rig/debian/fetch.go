package debian

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"svcrelay/tests/rig/cache"
)

// Progress prints what is going on; commands that want to be silent replace it.
var Progress = func(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "rig: "+format+"\n", args...)
}

// Set names packages of one suite.
type Set struct {
	Suite  string
	Names  []string // what is wanted; dependencies come along
	Only   string   // regular expression for package names: of all these take only the matching ones
	Source bool     // Names are source packages, of which Only picks files
	Host   bool     // for this machine, not for arm64
}

// File is one fetched file.
type File struct {
	Name   string // as the archive calls it, e.g. bash_5.2.15-2+b13_arm64.deb
	Path   string // on this machine
	Size   int64
	SHA256 string
	uri    string
}

// Package is the Debian package name of a .deb file.
func (f File) Package() string {
	name, _, _ := strings.Cut(f.Name, "_")
	return name
}

// Fetch returns the files of a set, in an order in which dependencies tend to come first. What was resolved and
// downloaded once is taken from the cache without asking the network.
func Fetch(ctx context.Context, set Set) ([]File, error) {
	unlock, err := cache.Lock("debian-" + set.place())
	if err != nil {
		return nil, err
	}
	defer unlock()
	dir, err := cache.Dir("debian", set.place())
	if err != nil {
		return nil, err
	}
	manifest := filepath.Join(dir, "sets", set.id()+".json")
	if files, ok := load(manifest); ok {
		return files, nil
	}
	s, err := openSuite(set.Suite, dir, set.arch())
	if err != nil {
		return nil, err
	}
	files, err := s.fetch(ctx, set)
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	if err != nil {
		// The index may be older than the archive: its files are then gone. Once more with a new one.
		if updateErr := s.update(ctx); updateErr != nil {
			return nil, errors.Join(err, updateErr)
		}
		if files, err = s.fetch(ctx, set); err != nil {
			return nil, err
		}
	}
	text, err := json.MarshalIndent(files, "", " ")
	if err != nil {
		return nil, err
	}
	_, err = cache.Make(manifest, func(tmp string) error { return os.WriteFile(tmp, text, 0o644) })
	return files, err
}

// Digest identifies the contents of fetched files, for keys of what is made from them.
func Digest(files []File) string {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintln(h, f.Name, f.SHA256)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// arch is what the packages are for, as Debian names it.
func (set Set) arch() string {
	if set.Host {
		return runtime.GOARCH
	}
	return guests
}

// guests is the architecture of guests.
const guests = "arm64"

// place names what is kept of a suite.
func (set Set) place() string {
	if a := set.arch(); a != guests {
		return set.Suite + "-" + a
	}
	return set.Suite
}

func (set Set) id() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %v", set.Names, set.Only, set.Source))
	return hex.EncodeToString(sum[:8])
}

// load reads a manifest whose files are all there in full length.
func load(manifest string) ([]File, bool) {
	text, err := os.ReadFile(manifest)
	if err != nil {
		return nil, false
	}
	var files []File
	if json.Unmarshal(text, &files) != nil || len(files) == 0 {
		os.Remove(manifest)
		return nil, false
	}
	for _, f := range files {
		if st, err := os.Stat(f.Path); err != nil || st.Size() != f.Size {
			os.Remove(manifest)
			return nil, false
		}
	}
	return files, true
}

func (s *suite) fetch(ctx context.Context, set Set) ([]File, error) {
	files, err := s.resolve(ctx, set)
	if err != nil {
		return nil, err
	}
	var total int64
	var missing []File
	for i := range files {
		files[i].Path = filepath.Join(s.dir, "files", files[i].Name)
		if sum, err := checksum(files[i].Path); err != nil || sum != files[i].SHA256 {
			missing = append(missing, files[i])
			total += files[i].Size
		}
	}
	if len(missing) > 0 {
		Progress("fetching %d files (%.1f MB) for %s from Debian %s", len(missing), float64(total)/1e6, strings.Join(set.Names, " "), s.name)
	}
	for i, f := range missing {
		if err := s.download(ctx, f); err != nil {
			return nil, err
		}
		if len(missing) > 1 && f.Size > 1<<20 || (i+1)%20 == 0 {
			Progress("  %d of %d: %s", i+1, len(missing), f.Name)
		}
	}
	return files, nil
}

// download leaves a partial file in place when it fails, which apt's downloader takes up the next time.
func (s *suite) download(ctx context.Context, f File) error {
	part := f.Path + ".part"
	helper := "/usr/lib/apt/apt-helper"
	cmd := exec.CommandContext(ctx, helper, "-c", s.conf, "-qq", "download-file", f.uri, part, "SHA256:"+f.SHA256)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	stop := follow(f.Name, part, f.Size)
	out, err := cmd.CombinedOutput()
	stop()
	if err != nil {
		return fmt.Errorf("download %s: %w\n%s", f.Name, err, tail(string(out), 1000))
	}
	sum, err := checksum(part)
	if err != nil {
		return fmt.Errorf("download %s: %w", f.Name, err)
	}
	if sum != f.SHA256 {
		os.Remove(part)
		return fmt.Errorf("download %s: SHA-256 is %s, the signed index says %s", f.Name, sum, f.SHA256)
	}
	return os.Rename(part, f.Path)
}

// follow reports every few seconds how much of a file has arrived, until stopped.
func follow(name, path string, size int64) (stop func()) {
	done := make(chan struct{})
	go func() {
		for tick := time.NewTicker(5 * time.Second); ; {
			select {
			case <-done:
				tick.Stop()
				return
			case <-tick.C:
				if st, err := os.Stat(path); err == nil && size > 0 {
					Progress("  %s: %d %% of %.1f MB", name, st.Size()*100/size, float64(size)/1e6)
				}
			}
		}
	}()
	return func() { close(done) }
}

// resolve asks apt for the files of a set.
func (s *suite) resolve(ctx context.Context, set Set) ([]File, error) {
	args := []string{"install", "--print-uris", "-qq", "-y"}
	if set.Source {
		args = []string{"source", "--print-uris", "-qq"}
	}
	out, err := s.apt(ctx, "apt-get", append(args, set.Names...)...)
	if err != nil {
		return nil, err
	}
	only, err := regexp.Compile("^(?:" + set.Only + ")$")
	if err != nil {
		return nil, fmt.Errorf("package pattern: %w", err)
	}
	var files []File
	for in := bufio.NewScanner(bytes.NewReader(out)); in.Scan(); {
		f, ok := parseURI(in.Text())
		if !ok {
			continue
		}
		key := f.Package()
		if set.Source {
			key = f.Name
		}
		if set.Only == "" || only.MatchString(key) {
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("Debian %s has no files for %s", s.name, strings.Join(set.Names, " "))
	}
	return files, nil
}

// parseURI reads one line of apt-get --print-uris: 'address' name size SHA256:sum.
func parseURI(line string) (File, bool) {
	f := strings.Fields(line)
	if len(f) != 4 || !strings.HasPrefix(f[3], "SHA256:") {
		return File{}, false
	}
	size, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil {
		return File{}, false
	}
	name, err := url.PathUnescape(f[1])
	if err != nil {
		name = f[1]
	}
	return File{Name: filepath.Base(name), Size: size, SHA256: strings.TrimPrefix(f[3], "SHA256:"), uri: strings.Trim(f[0], "'")}, true
}

func checksum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
