//go:build remotebox_runner

package registry

// RunnerBuild reports whether this program was built as a runner (build tag remotebox_runner).
const RunnerBuild = true
