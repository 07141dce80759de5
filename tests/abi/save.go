package abi

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"svcrelay/tests/rig/product"
	"svcrelay/tests/rig/repo"
)

// save writes the results for people and other programs. Cells that were not run this time stay as they are if they
// were made from the same files: the machines of the matrix may be run one by one.
func save(cells [][]Cell) error {
	top, err := repo.Root()
	if err != nil {
		return err
	}
	source, err := digest(top)
	if err != nil {
		return err
	}
	file := filepath.Join(top, "out/abi.json")
	var old, all []Cell
	if text, err := os.ReadFile(file); err == nil {
		_ = json.Unmarshal(text, &old) // what cannot be read is not kept
	}
	for i, m := range machines {
		list := cells[i]
		for k := range list {
			list[k].Source = source
		}
		if list == nil {
			for _, c := range old {
				if c.Kernel == m.kernel && c.CPU == m.cpu && c.Source == source {
					list = append(list, c)
				}
			}
		}
		all = append(all, list...)
	}
	text, err := json.MarshalIndent(all, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// digest tells one version of the library and of the checks from another.
func digest(top string) (string, error) {
	var files []string
	for _, name := range []string{"libsvcrelay.so", "libsvcrelay-tracer.so"} {
		file, err := product.Built("", name)
		if err != nil {
			return "", err
		}
		files = append(files, file)
	}
	for _, name := range append([]string{"abi.h", "abicxx.cc"}, sources...) {
		files = append(files, filepath.Join(top, "tests/guest", name))
	}
	sum := sha256.New()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d\n", filepath.Base(file), len(text))
		sum.Write(text)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8]), nil
}
