"""A tour of the official Python SDK. It prints one line a step and fails at the first thing that is not as it would be at
the service."""

import asyncio
import os
import tempfile
import time
from contextlib import contextmanager

from daytona import (
    CreateSandboxFromImageParams,
    CreateSandboxFromSnapshotParams,
    CreateSnapshotParams,
    Daytona,
    DaytonaError,
    FileDownloadRequest,
    FileUpload,
    Image,
    ListSandboxesQuery,
    PtySize,
    Resources,
    SessionExecuteRequest,
)
from daytona._sync import object_storage

# The SDK's storage client refuses plain HTTP, has no setting for it, and hides the environment from its library. The service
# is HTTPS; here it is a loopback port. What is sent, and how it is signed, stays as it is.
real_store = object_storage.S3Store


def plain_store(*args, client_options, **kwargs):
    return real_store(*args, client_options={**client_options, "allow_http": True}, **kwargs)


object_storage.S3Store = plain_store

isolated = os.environ.get("TOUR_ISOLATED") == "1"
daytona = Daytona()


@contextmanager
def step(name):
    start = time.monotonic()
    yield
    print(f"ok {name} {int((time.monotonic() - start) * 1000)}ms", flush=True)


@contextmanager
def refused(status):
    try:
        yield
    except DaytonaError as e:
        assert e.status_code == status, f"{e.status_code}: {e}"
    else:
        raise AssertionError("should have been refused")


with step("create"):
    sandbox = daytona.create(
        CreateSandboxFromSnapshotParams(
            name="tour-py", labels={"tour": "py"}, env_vars={"COLOUR": "red"}, auto_stop_interval=0
        )
    )
    assert sandbox.state == "started", sandbox.state
    assert sandbox.labels["tour"] == "py"
    assert sandbox.env["COLOUR"] == "red"

with step("create with a name in use"), refused(409):
    daytona.create(CreateSandboxFromSnapshotParams(name="tour-py"))

with step("create from a snapshot that is not there"), refused(400):
    daytona.create(CreateSandboxFromSnapshotParams(snapshot="no-such"))

with step("get by id and by name"):
    assert daytona.get(sandbox.id).name == "tour-py"
    assert daytona.get("tour-py").id == sandbox.id
    with refused(404):
        daytona.get("nobody")

with step("labels and list"):
    sandbox.set_labels({"tour": "py", "stage": "two"})
    other = daytona.create(CreateSandboxFromSnapshotParams(labels={"tour": "other"}))
    assert [s.id for s in daytona.list(ListSandboxesQuery(labels={"tour": "py"}))] == [sandbox.id]
    assert {s.id for s in daytona.list(ListSandboxesQuery(limit=1))} == {sandbox.id, other.id}
    other.delete()

with step("directories"):
    assert sandbox.get_work_dir() == sandbox.get_user_home_dir()

with step("exec"):
    res = sandbox.process.exec('echo "$COLOUR $WORD"; echo oops >&2; exit 3', env={"WORD": "word"})
    assert res.exit_code == 3
    assert "red word\n" in res.result and "oops\n" in res.result, res.result

with step("exec that takes too long"), refused(408):
    sandbox.process.exec("sleep 30", timeout=1)

with step("upload and download"):
    data = bytes([0, 1, 2, 255, 254, 10, 13, 0])
    sandbox.fs.create_folder("dir/sub", "755")
    sandbox.fs.upload_file(data, "dir/sub/data.bin")
    sandbox.fs.upload_files([FileUpload(source=b"one", destination="dir/one"), FileUpload(source=b"two", destination="dir/two")])
    assert sandbox.fs.download_file("dir/sub/data.bin") == data
    info = sandbox.fs.get_file_info("dir/sub/data.bin")
    assert info.size == len(data) and not info.is_dir
    assert sorted(f.name for f in sandbox.fs.list_files("dir")) == ["one", "sub", "two"]
    both = sandbox.fs.download_files([FileDownloadRequest(source="dir/one"), FileDownloadRequest(source="dir/nothing")])
    assert both[0].result == b"one"
    assert both[1].error

with step("a big upload"):
    big = b"x" * (5 << 20)
    sandbox.fs.upload_file(big, "big")
    assert sandbox.fs.download_file("big") == big

with step("permissions, move, delete"):
    sandbox.fs.upload_file(b"#!/bin/sh\necho ran\n", "script")
    sandbox.fs.set_file_permissions("script", mode="755")
    assert sandbox.process.exec("./script").result == "ran\n"
    sandbox.fs.move_files("script", "moved")
    with refused(404):
        sandbox.fs.get_file_info("script")
    sandbox.fs.delete_file("moved")
    sandbox.fs.delete_file("dir", recursive=True)

with step("find, search, replace"):
    sandbox.fs.create_folder("text", "755")
    sandbox.fs.upload_file(b"one\ntwo needle\n", "text/a.txt")
    found = sandbox.fs.find_files("text", "needle")
    assert len(found) == 1 and found[0].line == 2
    assert len(sandbox.fs.search_files("text", "*.txt").files) == 1
    assert sandbox.fs.replace_in_files([found[0].file], "needle", "thread")[0].success
    assert sandbox.fs.download_file("text/a.txt") == b"one\ntwo thread\n"

if isolated:
    with step("absolute paths are private"):
        sandbox.fs.upload_file(b"mine", "/opt/mine/file")
        assert sandbox.process.exec("cat /opt/mine/file; pwd").result == "mine/home/daytona\n"

with step("session"):
    session = "session-1"
    sandbox.process.create_session(session)
    with refused(409):
        sandbox.process.create_session(session)
    sandbox.process.execute_session_command(session, SessionExecuteRequest(command="KEPT=yes; cd /"))
    res = sandbox.process.execute_session_command(
        session, SessionExecuteRequest(command="echo $KEPT; pwd; echo e >&2; (exit 7)")
    )
    assert res.exit_code == 7
    assert res.stdout == "yes\n/\n", res.stdout
    assert res.stderr == "e\n", res.stderr
    assert len(sandbox.process.get_session(session).commands) == 2

with step("session with followed logs"):
    res = sandbox.process.execute_session_command(
        session,
        SessionExecuteRequest(
            command="for i in 1 2 3; do echo out$i; echo err$i >&2; sleep 0.05; done", run_async=True
        ),
    )
    out, err = [], []
    asyncio.run(sandbox.process.get_session_command_logs_async(session, res.cmd_id, out.append, err.append))
    assert "".join(out) == "out1\nout2\nout3\n", out
    assert "".join(err) == "err1\nerr2\nerr3\n", err
    assert sandbox.process.get_session_command(session, res.cmd_id).exit_code == 0
    assert sandbox.process.get_session_command_logs(session, res.cmd_id).stdout == "".join(out)

with step("session input"):
    res = sandbox.process.execute_session_command(
        session, SessionExecuteRequest(command='read LINE; echo "got $LINE"', run_async=True)
    )
    sandbox.process.send_session_command_input(session, res.cmd_id, "hello")
    out = []
    asyncio.run(sandbox.process.get_session_command_logs_async(session, res.cmd_id, out.append, out.append))
    assert "got hello\n" in "".join(out), out

with step("session delete"):
    sandbox.process.delete_session(session)
    with refused(404):
        sandbox.process.get_session(session)

with step("terminal"):
    pty = sandbox.process.create_pty_session("pty-1", pty_size=PtySize(rows=30, cols=100), envs={"WORD": "word"})
    pty.resize(PtySize(rows=40, cols=120))
    pty.send_input("stty size; echo \"<$WORD>\"; exit 5\n")
    seen = []
    result = pty.wait(on_data=lambda b: seen.append(b))
    text = b"".join(seen)
    assert result.exit_code == 5, result
    assert b"40 120" in text and b"<word>" in text, text

with step("preview"):
    link = sandbox.get_preview_link(3000)
    assert link.url and link.token

with step("pause is refused"), refused(422):
    sandbox.pause()

with step("stop and start"):
    sandbox.fs.upload_file(b"kept", "kept")
    sandbox.stop()
    assert sandbox.state == "stopped"
    with refused(400):
        sandbox.process.exec("true")
    with refused(400):
        sandbox.stop()
    sandbox.start()
    assert sandbox.state == "started"
    assert sandbox.fs.download_file("kept") == b"kept"

with step("pause and resume a virtual machine"):
    vm = daytona.create(CreateSandboxFromSnapshotParams(snapshot="daytona-vm-small"))
    vm.process.create_session("counter")
    vm.process.execute_session_command(
        "counter",
        SessionExecuteRequest(command="N=0; while :; do N=$((N+1)); echo $N > n; sleep 0.01; done", run_async=True),
    )
    vm.pause()
    assert vm.state == "paused", vm.state
    with refused(400):
        vm.process.exec("true")
    vm.start()
    assert vm.state == "started", vm.state
    first = vm.process.exec("cat n; sleep 0.1").result
    assert vm.process.exec("cat n").result != first
    vm.delete()

with step("archive and restore"):
    sandbox.stop()
    sandbox.archive()
    while sandbox.state != "archived":
        time.sleep(0.02)
        sandbox.refresh_data()
    sandbox.start()
    assert sandbox.fs.download_file("kept") == b"kept"

snapshot_name = f"tour-py:{int(time.time())}"
with step("snapshot with context"), tempfile.TemporaryDirectory() as directory:
    logs = []
    os.mkdir(os.path.join(directory, "app"))
    with open(os.path.join(directory, "app", "greeting.txt"), "w") as f:
        f.write("hello from the context\n")
    with open(os.path.join(directory, "app", "big"), "wb") as f:
        f.write(os.urandom(12 << 20))  # so that it is uploaded in parts
    image = Image.base("debian:12").add_local_dir(os.path.join(directory, "app"), "app").run_commands("cat app/greeting.txt")
    image = image.env({"FLAVOUR": "vanilla"}).run_commands('echo "flavour $FLAVOUR"')
    snapshot = daytona.snapshot.create(
        CreateSnapshotParams(name=snapshot_name, image=image, resources=Resources(cpu=2, memory=2, disk=5)),
        on_logs=logs.append,
    )
    assert snapshot.state == "active"
    text = "".join(logs)
    assert "flavour vanilla" in text, text
    assert "hello from the context" in text, text
    s = daytona.create(CreateSandboxFromSnapshotParams(snapshot=snapshot_name))
    assert s.cpu == 2
    assert s.process.exec("echo $FLAVOUR").result == "vanilla\n"
    s.delete()

with step("snapshot names are unique"), refused(409):
    daytona.snapshot.create(CreateSnapshotParams(name=snapshot_name, image="debian:12"))

with step("failed build"):
    try:
        daytona.snapshot.create(
            CreateSnapshotParams(name="tour-py-failing", image=Image.base("debian:12").run_commands("exit 9"))
        )
        raise AssertionError("the build should have failed")
    except DaytonaError as e:
        assert "returned a non-zero code: 9" in str(e), e
    daytona.snapshot.delete(daytona.snapshot.get("tour-py-failing"))

with step("snapshot list and delete"):
    assert any(s.name == snapshot_name for s in daytona.snapshot.list().items)
    daytona.snapshot.delete(daytona.snapshot.get(snapshot_name))

with step("sandbox from an image"):
    s = daytona.create(CreateSandboxFromImageParams(image=Image.base("debian:12").run_commands("echo declared")))
    assert s.process.exec("echo up").result == "up\n"
    s.delete()

with step("delete"):
    daytona.delete(sandbox, wait=True)
    with refused(404):
        daytona.get(sandbox.id)
    with refused(401):
        sandbox.process.exec("true")

print("tour complete", flush=True)
