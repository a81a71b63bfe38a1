// Package remote runs typed Go functions somewhere else: in a process of their own, a container,
// a microVM. A function is still called like a function.
//
//	type GreetInput struct{ Name string }
//	type GreetOutput struct{ Greeting string }
//
//	func greet(ctx context.Context, in GreetInput) (GreetOutput, error) {
//		return GreetOutput{Greeting: "Hello " + in.Name + "!"}, nil // runs in the sandbox
//	}
//
//	var Greet = remote.New(greet)
//
//	out, err := Greet.Call(ctx, GreetInput{Name: "World"})
//
// Nothing else is needed: no code generation, no hook in main, no server. Without [On], calls run
// on the subprocess backend, which needs no account, key or container engine.
//
// # How a function gets there
//
// [New], called while packages initialise, registers the function under its package and name. On
// the first call the program builds a runner, a static binary of the packages that register
// functions, and starts it in the sandbox; input and output travel as JSON. Building takes the Go
// toolchain and the sources that the program was built from. A program that calls runner.Main
// first in its main function needs neither: it starts itself again.
//
// # Semantics
//
// What JSON would silently change is refused, with the field: strings that are not UTF-8, two fields
// of one name, fields beside an embedded time.Time. What it does not say can't be kept: in a type any
// a number comes back as a float64, so that math.MaxInt64 loses digits, a []byte as its base64 text
// and a struct as a map. Concrete types keep all three.
//
// A call runs at most once: it is never repeated after a sandbox accepted it. It is a process of
// its own, so that package variables do not last from call to call; in a [Session], files and
// processes left running do. A call's context ends its work in the sandbox, the whole tree of
// processes included. What the function and its children print is passed on while it runs.
//
// Errors come back as Go errors: errors.Is and errors.As reach the standard library's well-known
// errors and those given to [RegisterError] through the whole chain. See [ExecutionError] and the
// types beside it for the other questions a caller may have.
//
// # Compatibility
//
// Until version 1.0 minor versions may change this API; the changelog says what to do. A runner
// and a host must be of the same protocol version, which is checked on every call.
package remote
