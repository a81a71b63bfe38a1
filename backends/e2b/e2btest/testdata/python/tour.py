"""The tour of the official Python SDK through the test server. It knows the
server by E2B_API_KEY, E2B_API_URL and E2B_SANDBOX_URL only; CONTEXT is the
directory to build a template from."""

import asyncio
import os
import threading
import uuid

from e2b import (
    AsyncSandbox,
    AuthenticationException,
    BuildException,
    CommandExitException,
    FileNotFoundException,
    InvalidArgumentException,
    NotFoundException,
    PtySize,
    Sandbox,
    SandboxException,
    SandboxQuery,
    SandboxState,
    Template,
    TimeoutException,
    wait_for_file,
)

CONFINED = os.environ.get("CONFINED") == "1"
UNIQUE = uuid.uuid4().hex[:10]
done = []


def step(name):
    def run(function):
        function()
        print(f"ok {name}", flush=True)
        done.append(name)
        return function

    return run


def rejected(kind, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


sandbox = Sandbox.create(timeout=120, metadata={"tour": UNIQUE, "odd key": "a b=c&d"}, envs={"GREETING": "hello"})


@step("create")
def _():
    info = sandbox.get_info()
    assert info.state == SandboxState.RUNNING, info
    assert info.metadata["tour"] == UNIQUE, info
    assert sandbox.is_running()


@step("run")
def _():
    pieces = []
    result = sandbox.commands.run('echo "$GREETING $NAME"; echo err >&2; pwd', envs={"NAME": "tour"}, on_stdout=pieces.append)
    assert result.exit_code == 0 and result.stderr == "err\n", result
    assert result.stdout == "".join(pieces), pieces
    assert result.stdout.startswith("hello tour\n"), result
    if CONFINED:
        assert result.stdout == "hello tour\n/home/user\n", result
    failed = rejected(CommandExitException, sandbox.commands.run, "echo out; exit 3")
    assert failed.exit_code == 3 and failed.stdout == "out\n", failed
    rejected(TimeoutException, sandbox.commands.run, "sleep 100", timeout=0.3)
    rejected(InvalidArgumentException, sandbox.commands.run, "true", cwd="/no/such/dir")
    rejected(AuthenticationException, sandbox.commands.run, "true", user="nobody-here")
    if CONFINED:
        assert sandbox.commands.run("id -un", user="root").stdout == "root\n"


@step("files")
def _():
    assert sandbox.files.write("dir/a.txt", "content").name == "a.txt"
    assert sandbox.files.read("dir/a.txt") == "content"
    assert sandbox.commands.run("cat dir/a.txt").stdout == "content"
    sandbox.files.write_files([{"path": "dir/b.txt", "data": "b"}, {"path": "dir/c.txt", "data": b"c"}])
    assert sorted(e.name for e in sandbox.files.list("dir")) == ["a.txt", "b.txt", "c.txt"]
    data = bytes(i % 251 for i in range(3 << 20))
    sandbox.files.write("big", data)
    assert bytes(sandbox.files.read("big", format="bytes")) == data
    assert b"".join(sandbox.files.read("big", format="stream")) == data
    assert sandbox.files.make_dir("made/deep") is True
    assert sandbox.files.make_dir("made/deep") is False
    sandbox.files.rename("dir/a.txt", "dir/z.txt")
    assert not sandbox.files.exists("dir/a.txt") and sandbox.files.exists("dir/z.txt")
    sandbox.files.remove("dir/z.txt")
    rejected(FileNotFoundException, sandbox.files.read, "dir/z.txt")
    watch = sandbox.files.watch_dir("dir")
    sandbox.files.write("dir/new.txt", "1")
    names = []
    while "new.txt" not in names:  # the test's watchdog bounds this
        names += [event.name for event in watch.get_new_events()]
    watch.stop()


@step("background")
def _():
    command = sandbox.commands.run("cat", background=True, stdin=True, timeout=0)
    assert command.pid in [p.pid for p in sandbox.commands.list()]
    sandbox.commands.send_stdin(command.pid, "typed\n")
    command.close_stdin()
    assert command.wait().stdout == "typed\n"
    sleeper = sandbox.commands.run("exec sleep 1000", background=True, timeout=0)
    assert sleeper.kill() is True
    assert rejected(CommandExitException, sleeper.wait).exit_code == -1
    assert sandbox.commands.kill(sleeper.pid) is False


@step("pty")
def _():
    terminal = sandbox.pty.create(PtySize(rows=23, cols=91), timeout=30)
    sandbox.pty.send_stdin(terminal.pid, b"echo size=$(stty size)\n")
    output = b""
    for _, _, data in terminal:
        output += data or b""
        if b"size=23 91" in output:
            break
    sandbox.pty.resize(terminal.pid, PtySize(rows=10, cols=40))
    assert sandbox.pty.kill(terminal.pid)


@step("pause and connect")
def _():
    global sandbox
    counter = sandbox.commands.run("n=0; while :; do n=$((n+1)); echo $n >count; sleep 0.01; done", background=True, timeout=0)
    counter.disconnect()
    sandbox.pause()
    assert Sandbox.get_info(sandbox.sandbox_id).state == SandboxState.PAUSED
    assert not sandbox.is_running()
    sandbox = Sandbox.connect(sandbox.sandbox_id, timeout=60)
    assert counter.pid in [p.pid for p in sandbox.commands.list()]
    again = sandbox.commands.connect(counter.pid)
    assert again.pid == counter.pid and again.kill()
    assert sandbox.commands.run("echo alive").stdout == "alive\n"


@step("list")
def _():
    others = [Sandbox.create(metadata={"tour": UNIQUE}) for _ in range(2)]
    pages = Sandbox.list(query=SandboxQuery(metadata={"tour": UNIQUE}), limit=2)
    ids = []
    while pages.has_next:
        ids += [s.sandbox_id for s in pages.next_items()]
    assert sorted(ids) == sorted(s.sandbox_id for s in [sandbox, *others]), ids
    odd = Sandbox.list(query=SandboxQuery(metadata={"odd key": "a b=c&d"}, state=[SandboxState.RUNNING])).next_items()
    assert [s.sandbox_id for s in odd] == [sandbox.sandbox_id], odd
    for other in others:
        assert other.kill()


@step("snapshot and fork")
def _():
    sandbox.files.write("kept.txt", "kept")
    snapshot = sandbox.create_snapshot()
    copy = Sandbox.create(snapshot.snapshot_id)
    assert copy.files.read("kept.txt") == "kept"
    copy.kill()
    assert Sandbox.delete_snapshot(snapshot.snapshot_id)
    forks = sandbox.fork(count=2)
    for fork in forks:
        assert fork.files.read("kept.txt") == "kept"
        fork.kill()
    sandbox.set_timeout(90)
    sandbox.get_metrics()


@step("kill")
def _():
    running = sandbox.commands.run("sleep 1000", background=True, timeout=0)
    failure = []
    waiter = threading.Thread(target=lambda: failure.append(rejected(Exception, running.wait)))
    waiter.start()
    assert sandbox.kill() is True
    waiter.join()
    assert failure and not isinstance(failure[0], AssertionError), failure
    assert not sandbox.is_running()
    rejected(SandboxException, sandbox.commands.run, "true")
    assert Sandbox.kill(sandbox.sandbox_id) is False


@step("async")
def _():
    async def tour():
        async with await AsyncSandbox.create(metadata={"tour": UNIQUE}) as box:
            results = await asyncio.gather(*(box.commands.run(f"echo {i}") for i in range(5)))
            assert [r.stdout for r in results] == [f"{i}\n" for i in range(5)], results

    asyncio.run(tour())


NAME = f"tour-{UNIQUE}"


@step("build")
def _():
    template = (
        Template(file_context_path=os.environ["CONTEXT"])
        .from_image("debian:12")
        .set_envs({"FLAVOUR": "sweet"})
        .set_user("user")
        .set_workdir("/home/user/work")
        .copy("app", "copied/")
        .copy("tool.sh", "/home/user/bin/tool", mode=0o755)
        .run_cmd("echo built with $FLAVOUR > built.txt")
        .set_start_cmd("echo started > ~/started; exec sleep 1000", wait_for_file("/home/user/started" if CONFINED else "/etc/passwd"))
    )
    logs = []
    info = Template.build(template, NAME, cpu_count=2, memory_mb=512, on_build_logs=lambda entry: logs.append(entry.message))
    assert info.name == NAME, info
    assert any("RUN [echo built with" in message for message in logs), logs
    assert Template.exists(NAME) and not Template.exists(NAME + "-not")
    built = Sandbox.create(NAME)
    result = built.commands.run("cat built.txt copied/main.txt copied/sub/deep.txt; ~/bin/tool; echo $FLAVOUR")
    user = "user" if CONFINED else os.environ["WHOAMI"]
    assert result.stdout == f"built with sweet\nfrom the context\ndeeper\ntool ran as {user}\nsweet\n", result
    built.kill()


@step("tags")
def _():
    Template.assign_tags(NAME, ["v1"])
    assert sorted(t.tag for t in Template.get_tags(NAME)) == ["default", "v1"]
    Sandbox.create(f"{NAME}:v1").kill()
    Template.remove_tags(NAME, "v1")
    assert "tag 'v1' does not exist" in str(rejected((SandboxException, NotFoundException), Sandbox.create, f"{NAME}:v1"))


@step("failed build")
def _():
    template = Template().from_template(NAME).run_cmd("true").run_cmd("echo whoops >&2; exit 7")
    logs = []
    error = rejected(BuildException, Template.build, template, NAME + "-bad", on_build_logs=lambda entry: logs.append(entry.message))
    assert "exit 7': exit status 7" in str(error), error
    assert any("whoops" in message for message in logs), logs
    rejected(BuildException, Template.build, Template().from_template("no-such-template"), NAME + "-bad2")


@step("dockerfile")
def _():
    template = Template(file_context_path=os.environ["CONTEXT"]).from_dockerfile(
        """FROM debian:12
ENV EAT=cake
WORKDIR /home/user/kitchen
COPY app/main.txt ./
RUN cat main.txt && \\
    echo $EAT > eaten.txt
"""
    )
    Template.build(template, NAME + "-docker")
    built = Sandbox.create(NAME + "-docker")
    assert built.commands.run("cat eaten.txt; ls").stdout == "cake\neaten.txt\nmain.txt\n"
    built.kill()


print(f"{len(done)} steps", flush=True)
