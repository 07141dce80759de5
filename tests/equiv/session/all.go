package session

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"

	"svcrelay/tests/equiv/cases"
)

// All runs a request in as many VMs side by side as the rig runs on this machine, one after the other in each place until
// everything has been compared. Differences are told to seen as they are found.
func All(ctx context.Context, tools Tools, req cases.Request, seen func(cases.Mismatch)) (*cases.Reply, error) {
	places := min(2, runtime.NumCPU())
	all := &cases.Reply{Configs: map[string]*cases.Figures{}, Done: true}
	var mu sync.Mutex
	var wait sync.WaitGroup
	var first error
	for place := range places {
		part := req
		part.First, part.Stride = req.First+place, places
		part.Kept = nil
		for i, k := range req.Kept {
			if i%places == place {
				part.Kept = append(part.Kept, k)
			}
		}
		if len(part.Kept) == 0 && part.First*part.PerCase >= part.Ops {
			continue // nothing is left for this place
		}
		wait.Go(func() {
			for {
				reply, err := Run(ctx, tools, part)
				mu.Lock()
				if err != nil {
					if first == nil {
						first = err
					}
					mu.Unlock()
					return
				}
				for _, m := range reply.Mismatches {
					seen(m)
				}
				stuck := reply.Next == part.First && reply.NextSkip == part.Skip && reply.Kept == 0
				done := all.Done
				all.Add(reply)
				finished := reply.Done || stuck || !part.GoOn || len(all.Problems) > 20
				all.Done = done && (reply.Done || !finished)
				mu.Unlock()
				if finished {
					return
				}
				fmt.Fprintf(os.Stderr, "equiv: round %d of %d\n", reply.Next, (req.Ops+req.PerCase-1)/req.PerCase)
				part.First, part.Skip, part.Kept = reply.Next, reply.NextSkip, part.Kept[reply.Kept:]
				part.Shrink = max(0, part.Shrink-len(reply.Mismatches))
			}
		})
	}
	wait.Wait()
	if first != nil && len(all.Configs) == 0 {
		return nil, first
	}
	if first != nil {
		// What was found before is worth more than the reason why it ends here.
		all.Problems = append(all.Problems, first.Error())
	}
	return all, nil
}
