// The tour of the official JavaScript SDK through the test server. It knows the
// server by E2B_API_KEY, E2B_API_URL and E2B_SANDBOX_URL only; CONTEXT is the
// directory to build a template from.
import assert from 'node:assert/strict'
import { CommandExitError, Sandbox, SandboxNotFoundError, Template, waitForFile } from 'e2b'

const confined = process.env.CONFINED === '1'
const home = confined ? '/home/user' : undefined
const unique = Math.random().toString(36).slice(2)

async function step(name, run) {
  await run()
  console.log(`ok ${name}`)
}

let sandbox
await step('create', async () => {
  sandbox = await Sandbox.create({ timeoutMs: 120_000, metadata: { tour: unique, 'odd key': 'a b=c&d' }, envs: { GREETING: 'hello' } })
  const info = await sandbox.getInfo()
  assert.equal(info.state, 'running')
  assert.equal(info.metadata.tour, unique)
  assert.equal(info.envdVersion, '0.6.13')
  assert.equal(await sandbox.isRunning(), true)
})

await step('run', async () => {
  let streamed = ''
  const result = await sandbox.commands.run('echo "$GREETING $NAME"; echo err >&2; pwd', {
    envs: { NAME: 'tour' }, onStdout: (data) => { streamed += data },
  })
  assert.equal(result.exitCode, 0)
  assert.equal(result.stderr, 'err\n')
  assert.equal(result.stdout, streamed)
  assert.match(result.stdout, /^hello tour\n/)
  if (home) assert.equal(result.stdout, `hello tour\n${home}\n`)
  await assert.rejects(sandbox.commands.run('echo out; exit 3'), (error) =>
    error instanceof CommandExitError && error.exitCode === 3 && error.stdout === 'out\n')
  await assert.rejects(sandbox.commands.run('sleep 100', { timeoutMs: 300 }), { name: 'TimeoutError' })
  await assert.rejects(sandbox.commands.run('true', { cwd: '/no/such/dir' }), { name: 'InvalidArgumentError' })
  await assert.rejects(sandbox.commands.run('true', { user: 'nobody-here' }), { name: 'AuthenticationError' })
  if (confined) assert.equal((await sandbox.commands.run('id -un', { user: 'root' })).stdout, 'root\n')
})

await step('files', async () => {
  const entry = await sandbox.files.write('dir/a.txt', 'content')
  assert.equal(entry.name, 'a.txt')
  if (home) assert.equal(entry.path, `${home}/dir/a.txt`)
  assert.equal(await sandbox.files.read('dir/a.txt'), 'content')
  assert.equal((await sandbox.commands.run('cat dir/a.txt')).stdout, 'content')
  await sandbox.files.write([{ path: 'dir/b.txt', data: 'b' }, { path: 'dir/c.txt', data: 'c' }])
  assert.deepEqual((await sandbox.files.list('dir')).map((e) => e.name).sort(), ['a.txt', 'b.txt', 'c.txt'])
  const bytes = new Uint8Array(3 << 20).map((_, i) => i % 251)
  await sandbox.files.write('big', bytes.buffer, { useOctetStream: true })
  assert.deepEqual(await sandbox.files.read('big', { format: 'bytes' }), bytes)
  await sandbox.files.write('packed', 'x'.repeat(100_000), { gzip: true })
  assert.equal((await sandbox.files.getInfo('packed')).size, 100_000)
  assert.equal(await sandbox.files.makeDir('made/deep'), true)
  assert.equal(await sandbox.files.makeDir('made/deep'), false)
  await sandbox.files.rename('dir/a.txt', 'dir/z.txt')
  assert.equal(await sandbox.files.exists('dir/a.txt'), false)
  assert.equal(await sandbox.files.exists('dir/z.txt'), true)
  await sandbox.files.remove('dir/z.txt')
  await assert.rejects(sandbox.files.read('dir/z.txt'), { name: 'FileNotFoundError' })
  if (confined) {
    await sandbox.files.write('/app/x', 'root', { user: 'root' })
    assert.equal((await sandbox.commands.run('cat /app/x')).stdout, 'root')
  }
})

await step('watch', async () => {
  await sandbox.files.makeDir('watched')
  let seen
  const event = new Promise((resolve) => { seen = resolve })
  const handle = await sandbox.files.watchDir('watched', (e) => { if (e.name === 'new.txt') seen(e) })
  await sandbox.files.write('watched/new.txt', '1')
  assert.equal((await event).type, 'create')
  await handle.stop()
})

await step('background', async () => {
  let output = ''
  const command = await sandbox.commands.run('cat', { background: true, stdin: true, timeoutMs: 0, onStdout: (d) => { output += d } })
  assert.ok((await sandbox.commands.list()).some((p) => p.pid === command.pid))
  await sandbox.commands.sendStdin(command.pid, 'typed\n')
  await command.closeStdin()
  assert.equal((await command.wait()).exitCode, 0)
  assert.equal(output, 'typed\n')
  const sleeper = await sandbox.commands.run('exec sleep 1000', { background: true, timeoutMs: 0 })
  assert.equal(await sleeper.kill(), true)
  await assert.rejects(sleeper.wait(), (error) => error instanceof CommandExitError && error.exitCode === -1)
  assert.equal(await sandbox.commands.kill(sleeper.pid), false)
})

await step('pty', async () => {
  let output = ''
  let arrived
  const done = new Promise((resolve) => { arrived = resolve })
  const terminal = await sandbox.pty.create({
    cols: 91, rows: 23,
    onData: (data) => { output += new TextDecoder().decode(data); if (output.includes('size=23 91')) arrived() },
  })
  await sandbox.pty.sendInput(terminal.pid, new TextEncoder().encode('echo size=$(stty size)\n'))
  await done
  await sandbox.pty.resize(terminal.pid, { cols: 40, rows: 10 })
  await sandbox.pty.kill(terminal.pid)
})

await step('pause and connect', async () => {
  const counter = await sandbox.commands.run('n=0; while :; do n=$((n+1)); echo $n >count; sleep 0.01; done', { background: true, timeoutMs: 0 })
  await counter.disconnect()
  assert.equal(await sandbox.pause(), true)
  assert.equal((await Sandbox.getInfo(sandbox.sandboxId)).state, 'paused')
  assert.equal(await sandbox.isRunning(), false)
  sandbox = await Sandbox.connect(sandbox.sandboxId, { timeoutMs: 60_000 })
  assert.ok((await sandbox.commands.list()).some((p) => p.pid === counter.pid))
  const again = await sandbox.commands.connect(counter.pid)
  assert.equal(again.pid, counter.pid)
  assert.equal(await again.kill(), true)
  assert.equal((await sandbox.commands.run('echo alive')).stdout, 'alive\n')
})

await step('list', async () => {
  const others = await Promise.all([1, 2].map(() => Sandbox.create({ metadata: { tour: unique } })))
  const paginator = Sandbox.list({ query: { metadata: { tour: unique } }, limit: 2 })
  const ids = []
  while (paginator.hasNext) ids.push(...(await paginator.nextItems()).map((s) => s.sandboxId))
  assert.deepEqual(ids.sort(), [sandbox, ...others].map((s) => s.sandboxId).sort())
  const odd = await Sandbox.list({ query: { metadata: { 'odd key': 'a b=c&d' }, state: ['running'] } }).nextItems()
  assert.deepEqual(odd.map((s) => s.sandboxId), [sandbox.sandboxId])
  await Promise.all(others.map((s) => s.kill()))
})

await step('timeout', async () => {
  await sandbox.setTimeout(90_000)
  const left = (await sandbox.getInfo()).endAt.getTime() - Date.now()
  assert.ok(left > 60_000 && left < 91_000, `${left} ms left`)
  assert.ok(Array.isArray(await sandbox.getMetrics()))
})

await step('snapshot', async () => {
  await sandbox.files.write('kept.txt', 'kept')
  const snapshot = await sandbox.createSnapshot()
  const copy = await Sandbox.create(snapshot.snapshotId)
  assert.equal(await copy.files.read('kept.txt'), 'kept')
  await copy.kill()
  assert.equal(await Sandbox.deleteSnapshot(snapshot.snapshotId), true)
})

await step('kill', async () => {
  const running = await sandbox.commands.run('sleep 1000', { background: true, timeoutMs: 0 })
  const cut = assert.rejects(running.wait())
  assert.equal(await sandbox.kill(), true)
  await cut
  assert.equal(await sandbox.isRunning(), false)
  await assert.rejects(sandbox.commands.run('true'), SandboxNotFoundError)
  assert.equal(await Sandbox.kill(sandbox.sandboxId), false)
})

const name = `tour-${unique}`
await step('build', async () => {
  const template = Template({ fileContextPath: process.env.CONTEXT })
    .fromImage('debian:12')
    .setEnvs({ FLAVOUR: 'sweet' })
    .setUser('user')
    .setWorkdir('/home/user/work')
    .copy('app', 'copied/')
    .copy('tool.sh', '/home/user/bin/tool', { mode: 0o755 })
    .runCmd('echo built with $FLAVOUR > built.txt')
    .setStartCmd('echo started > ~/started; exec sleep 1000', waitForFile(confined ? '/home/user/started' : '/etc/passwd'))
  const logs = []
  const info = await Template.build(template, name, { cpuCount: 2, memoryMB: 512, onBuildLogs: (entry) => logs.push(entry.message) })
  assert.equal(info.name, name)
  assert.ok(logs.some((message) => message.includes('RUN [echo built with')), logs.join('\n'))
  assert.equal(await Template.exists(name), true)
  assert.equal(await Template.exists(`${name}-not`), false)
  const built = await Sandbox.create(name, { envs: { FLAVOUR2: 'sour' } })
  const { stdout } = await built.commands.run('cat built.txt copied/main.txt copied/sub/deep.txt; ~/bin/tool; echo $FLAVOUR $FLAVOUR2')
  const user = confined ? 'user' : process.env.WHOAMI
  assert.equal(stdout, `built with sweet\nfrom the context\ndeeper\ntool ran as ${user}\nsweet sour\n`)
  if (confined) assert.ok((await built.commands.run('pgrep -x sleep -P 1,0 -a || pgrep -a sleep')).stdout.includes('sleep 1000'))
  await built.kill()
})

await step('tags', async () => {
  await Template.assignTags(name, ['v1'])
  assert.deepEqual((await Template.getTags(name)).map((t) => t.tag).sort(), ['default', 'v1'])
  const tagged = await Sandbox.create(`${name}:v1`)
  await tagged.kill()
  await Template.removeTags(name, 'v1')
  await assert.rejects(Sandbox.create(`${name}:v1`), /tag 'v1' does not exist/)
})

await step('failed build', async () => {
  const template = Template().fromTemplate(name).runCmd('true').runCmd('echo whoops >&2; exit 7')
  const logs = []
  await assert.rejects(Template.build(template, `${name}-bad`, { onBuildLogs: (entry) => logs.push(entry.message) }), (error) =>
    error.name === 'BuildError' && /exit 7': exit status 7/.test(error.message))
  assert.ok(logs.some((message) => message.includes('whoops')), logs.join('\n'))
  await assert.rejects(Sandbox.create(`${name}-bad`), /does not exist/)
  await assert.rejects(Template.build(Template().fromTemplate('no-such-template'), `${name}-bad2`), { name: 'BuildError' })
})

await step('dockerfile', async () => {
  const template = Template({ fileContextPath: process.env.CONTEXT }).fromDockerfile(`FROM debian:12
ARG WHAT=cake
ENV EAT=\${WHAT}
WORKDIR /home/user/kitchen
COPY app/main.txt tool.sh ./
RUN cat main.txt && \\
    echo $EAT > eaten.txt
`)
  await Template.build(template, `${name}-docker`)
  const built = await Sandbox.create(`${name}-docker`)
  // E2B's builder evaluates a value without what the steps before it have set.
  assert.equal((await built.commands.run('cat eaten.txt; ls')).stdout, '\neaten.txt\nmain.txt\ntool.sh\n')
  await built.kill()
})
