package rig

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"

	"svcrelay/tests/rig/protocol"
)

// readResults reads the archive that init wrote.
func readResults(disk string) (*Result, error) {
	f, err := os.Open(disk)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	res := &Result{Files: map[string][]byte{}, Links: map[string]string{}}
	for in := tar.NewReader(f); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil, errors.New("incomplete: the VM stopped before it had written them all")
		}
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(in)
		if err != nil {
			return nil, err
		}
		switch {
		case h.Name == protocol.EndName:
			return res, nil
		case h.Name == protocol.ReportName:
			if err := res.report(data); err != nil {
				return nil, err
			}
		case h.Typeflag == tar.TypeSymlink:
			res.Links[strings.TrimPrefix(h.Name, protocol.FilePrefix)] = h.Linkname
		default:
			res.Files[strings.TrimPrefix(h.Name, protocol.FilePrefix)] = data
		}
	}
}

func (res *Result) report(text []byte) error {
	var r protocol.Report
	if err := json.Unmarshal(text, &r); err != nil {
		return err
	}
	res.Kernel, res.PageSize, res.Outcomes = r.Kernel, r.PageSize, r.Outcomes
	for _, o := range r.Outcomes {
		if o.Status != 0 && res.Status == 0 {
			res.Status = o.Status
		}
	}
	return nil
}
