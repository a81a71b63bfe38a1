// Package envdpb holds the messages of envd, the agent inside an E2B sandbox:
// [process] runs commands, [filesystem] looks at files. The .proto files are
// this project's own; names and field numbers are envd's. The wire names of
// the services (process.Process, filesystem.Filesystem) follow from the proto
// packages and must not change.
//
// To generate again, put protoc-gen-go, protoc-gen-connect-go and buf into a
// directory on PATH (go install google.golang.org/protobuf/cmd/protoc-gen-go,
// connectrpc.com/connect/cmd/protoc-gen-connect-go and
// github.com/bufbuild/buf/cmd/buf, at the versions of go.mod), then go generate.
//
// [process]: https://pkg.go.dev/github.com/remote-box/remote/backends/e2b/internal/envdpb/process
// [filesystem]: https://pkg.go.dev/github.com/remote-box/remote/backends/e2b/internal/envdpb/filesystem
package envdpb

//go:generate buf generate
