package runner

// executable is this very program, also when its file has been replaced or removed meanwhile.
func executable() (string, error) { return "/proc/self/exe", nil }
