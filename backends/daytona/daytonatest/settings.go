//go:build !remotebox_runner

package daytonatest

// settings are the timers that POST /sandbox/{s}/NAME/{n} sets.
func settings() map[string]func(sb *sandbox, n int) error {
	return map[string]func(sb *sandbox, n int) error{
		"autostop": func(sb *sandbox, n int) error {
			if n < 0 {
				return fail(400, "Auto-stop interval must be non-negative")
			}
			sb.autoStop = n
			return nil
		},
		"autopause": func(sb *sandbox, n int) error {
			if sb.class != classVM && n != 0 {
				return fail(400, "Auto-pause is not supported for this sandbox class")
			}
			sb.autoPause = n
			return nil
		},
		"autoarchive": setAutoArchive,
		"autodelete": func(sb *sandbox, n int) error {
			sb.autoDel = n
			return nil
		},
		"ttl": func(sb *sandbox, n int) error {
			sb.ttl = n
			return nil
		},
	}
}
