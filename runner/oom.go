package runner

import (
	"bytes"
	"os"
	"strconv"
)

// oomKills is how many processes of this sandbox the kernel has killed because memory ran out, as
// far as its control group tells (cgroups(7), version 2 and then 1).
func oomKills() int {
	for _, name := range []string{"/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"} {
		b, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		for line := range bytes.Lines(b) {
			if count, ok := bytes.CutPrefix(line, []byte("oom_kill ")); ok {
				n, _ := strconv.Atoi(string(bytes.TrimSpace(count)))
				return n
			}
		}
	}
	return 0
}
