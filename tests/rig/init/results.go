package main

import (
	"archive/tar"
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"svcrelay/tests/rig/protocol"
)

// writeResults writes the archive to the disk and waits until it is there.
func writeResults(disk *os.File, report *protocol.Report, globs []string) error {
	buf := bufio.NewWriterSize(disk, 1<<20)
	out := tar.NewWriter(buf)
	text, err := json.Marshal(report)
	if err != nil {
		return err
	}
	if err := entry(out, protocol.ReportName, 0o644, text); err != nil {
		return err
	}
	for _, glob := range globs {
		matches, err := filepath.Glob(glob)
		if err != nil {
			return fmt.Errorf("return %s: %w", glob, err)
		}
		for _, m := range matches {
			if err := returnTree(out, m); err != nil {
				return fmt.Errorf("return %s: %w", m, err)
			}
		}
	}
	if err := entry(out, protocol.EndName, 0o644, nil); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	if err := buf.Flush(); err != nil {
		return fmt.Errorf("%s: %w", protocol.OutputDisk, err)
	}
	return disk.Sync()
}

// returnTree adds a file, or the regular files and symlinks below a directory.
func returnTree(out *tar.Writer, root string) error {
	return filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			return entry(out, protocol.FilePrefix+p, info.Mode().Perm(), data)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(p)
			if err != nil {
				return err
			}
			return out.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: protocol.FilePrefix + p, Linkname: target, Mode: 0o777})
		}
		return nil
	})
}

func entry(out *tar.Writer, name string, mode fs.FileMode, data []byte) error {
	if err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: int64(mode), Size: int64(len(data))}); err != nil {
		return err
	}
	_, err := io.Writer(out).Write(data)
	return err
}
