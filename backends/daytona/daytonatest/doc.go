// Package daytonatest is a small real Daytona: a server that speaks the v0 control plane, the object storage and the
// toolbox, and runs what it is asked to run. Programs that use Daytona test against it without the cloud, as programs
// that use HTTP test against net/http/httptest.
//
//	srv := daytonatest.New(t, daytonatest.Config{})
//	client := newClient(srv.APIURL(), srv.Key)
//
// # What is real
//
// Commands, sessions, files and snapshot builds: every sandbox has processes and a disk of its own. Run as root on
// Linux, a sandbox is a mount namespace, a PID namespace and a root directory in which the host's /usr, /etc and
// the like appear copy-on-write and /home/daytona, /root, /tmp and everything else are private, so that absolute paths
// mean what they mean in the cloud. Stopping a sandbox kills every process in it; pausing one of class linux-vm
// freezes them. SigV4 signatures are checked, and a request that the service would refuse is refused in its words.
//
// # What is not
//
// FROM pulls nothing: every base image is the host's own system. The network is the host's, so two sandboxes can't
// listen on one port, unless [Config.PrivateNetwork] or networkBlockAll say otherwise; other network rules, volumes
// and secrets have no effect. CPU, memory and disk sizes are accounted for, not enforced. It is no security boundary: do
// not run code in it that you would not run on your own machine.
//
// Not run as root, or where namespaces are forbidden (see [Server.Isolated]), a sandbox is a directory. Relative paths, $HOME
// and $TMPDIR lie in it, and the file endpoints put absolute paths below it; but a command that names
// /home/daytona or /tmp reaches the host's, a RUN line of a build runs as the current user on the host, and a process that
// both called setsid and emptied its environment outlives its sandbox. On Windows the server does not start.
package daytonatest
