//go:build !remotebox_runner

package daytonatest

// fits checks the quota. A request that named sizes is checked against the largest sandbox too. s.mu is held.
func (s *Server) fits(sb *sandbox, req *createRequest) error {
	q := s.cfg.Quota
	if req != nil {
		for _, x := range []struct {
			what      string
			size, max int
		}{{"CPU request", sb.cpu, q.CPUPerSandbox}, {"Memory request", sb.memory, q.MemoryPerSandbox}, {"Disk request", sb.disk, q.DiskPerSandbox}} {
			if x.max > 0 && x.size > x.max {
				unit := "GB"
				if x.what == "CPU request" {
					unit = ""
				}
				return fail(400, "%s %d%s exceeds maximum allowed per sandbox (%d%s)", x.what, x.size, unit, x.max, unit)
			}
		}
	}
	cpu, memory, disk := s.used(sb)
	for _, x := range []struct {
		what      string
		size, max int
	}{{"CPU", cpu + sb.cpu, q.CPU}, {"memory", memory + sb.memory, q.Memory}, {"disk", disk + sb.disk, q.Disk}} {
		if x.max > 0 && x.size > x.max {
			return fail(400, "Total %s limit exceeded. Maximum allowed: %d.\nTo increase concurrency limits, upgrade your organization's Tier", x.what, x.max)
		}
	}
	return nil
}

// used is what the sandboxes other than not hold: all of it when started, the disk until they are archived. s.mu is held.
func (s *Server) used(not *sandbox) (cpu, memory, disk int) {
	for _, sb := range s.sandboxes {
		if sb == not {
			continue
		}
		switch sb.state {
		case "destroyed", "destroying", "archived", "error", "build_failed":
			continue
		case "stopped", "paused", "archiving":
		default:
			cpu, memory = cpu+sb.cpu, memory+sb.memory
		}
		disk += sb.disk
	}
	return cpu, memory, disk
}
