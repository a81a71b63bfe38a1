// Package jail gives every sandbox of the test server a place of its own to
// run processes in.
//
// As root on Linux a jail has its own mount, process, IPC and host name
// spaces. Its root directory is an overlay of a small skeleton, the layers of
// its template and a private upper directory; /usr is an overlay of the host's
// /usr, so that every program of the host is there and every absolute path is
// writable and private. Process 1 of a jail is a shell that reaps orphans.
//
// Elsewhere on Linux (not root, or in a container that forbids mounts) a jail
// is only a directory: /home/user stands for it in the paths of requests,
// $HOME and $TMPDIR lie in it, and every other path is the host's. Its processes
// are known by a variable of their environment; one that drops the variable and
// leaves its parent can't be found again.
//
// A jail keeps tests apart from each other. It is no protection against
// hostile code.
package jail
