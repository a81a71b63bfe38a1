// Package envd is a second envd, the agent inside an E2B sandbox: the same REST
// and Connect interface, over a jail of the test server instead of a microVM.
package envd
