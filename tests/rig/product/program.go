package product

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"svcrelay/tests/rig"
	"svcrelay/tests/rig/inside"
	"svcrelay/tests/rig/repo"
)

// AddProgram adds a program of the source tree to a job, named by its package, at a directory of the VM, with its request, and
// the command that runs it. It must use inside.Main. The directory tmp must be there until the job has run.
func AddProgram(job *rig.Job, tmp, pkg, dir string, request any, limit time.Duration) error {
	text, err := json.Marshal(request)
	if err != nil {
		return err
	}
	name := filepath.Base(pkg)
	if err := repo.BuildARM64(pkg, filepath.Join(tmp, name)); err != nil {
		return err
	}
	if job.Files == nil {
		job.Files = map[string]rig.File{}
	}
	job.Files[dir+"/"+name] = rig.File{HostPath: filepath.Join(tmp, name)}
	job.Files[dir+"/"+inside.RequestName] = rig.File{Data: text}
	job.Commands = append(job.Commands, rig.Command{Name: pkg, Argv: []string{dir + "/" + name}, Timeout: limit})
	job.Return = append(job.Return, inside.ReplyPath)
	return nil
}

// Reply is what such a program has replied, as JSON.
func Reply(res *rig.Result) ([]byte, error) {
	text, ok := res.Files[inside.ReplyPath]
	if ok && res.Status == 0 {
		return text, nil
	}
	said := ""
	for _, o := range res.Outcomes {
		said += fmt.Sprintf("\n%s: %s%s%s", o.Name, o.Problem, o.Stdout, o.Stderr)
	}
	return nil, fmt.Errorf("the job in the VM ended with status %d%s", res.Status, said)
}
