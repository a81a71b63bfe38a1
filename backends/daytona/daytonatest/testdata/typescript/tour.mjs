// A tour of the official TypeScript SDK. It prints one line a step and exits with 1 at the first thing that is not as it
// would be at the service.
import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Daytona, Image } from '@daytona/sdk'

const isolated = process.env.TOUR_ISOLATED === '1'
const daytona = new Daytona({ apiKey: process.env.DAYTONA_API_KEY, apiUrl: process.env.DAYTONA_API_URL, target: 'us' })
const decoder = new TextDecoder()

async function step(name, f) {
  const start = Date.now()
  await f()
  console.log(`ok ${name} ${Date.now() - start}ms`)
}

async function refused(status, f) {
  let error
  try {
    await f()
  } catch (e) {
    error = e
  }
  assert.ok(error, 'should have been refused')
  assert.equal(error.statusCode, status, `${error}`)
  return error
}

let sandbox, session

await step('create', async () => {
  sandbox = await daytona.create({ name: 'tour-ts', labels: { tour: 'ts' }, envVars: { COLOUR: 'red' }, autoStopInterval: 0 })
  assert.equal(sandbox.state, 'started')
  assert.equal(sandbox.labels.tour, 'ts')
  assert.equal(sandbox.env.COLOUR, 'red')
})
await step('create with a name in use', () => refused(409, () => daytona.create({ name: 'tour-ts' })))
await step('create from a snapshot that is not there', () => refused(400, () => daytona.create({ snapshot: 'no-such' })))
await step('get by id and by name', async () => {
  assert.equal((await daytona.get(sandbox.id)).name, 'tour-ts')
  assert.equal((await daytona.get('tour-ts')).id, sandbox.id)
  await refused(404, () => daytona.get('nobody'))
})
await step('labels and list', async () => {
  await sandbox.setLabels({ tour: 'ts', stage: 'two' })
  const other = await daytona.create({ labels: { tour: 'other' } })
  const found = []
  for await (const s of daytona.list({ labels: { tour: 'ts' } })) found.push(s.id)
  assert.deepEqual(found, [sandbox.id])
  const all = []
  for await (const s of daytona.list({ limit: 1 })) all.push(s.id)
  assert.deepEqual(new Set(all), new Set([sandbox.id, other.id]))
  await other.delete()
})
await step('directories', async () => {
  assert.equal(await sandbox.getWorkDir(), await sandbox.getUserHomeDir())
})

await step('exec', async () => {
  const res = await sandbox.process.executeCommand('echo "$COLOUR $WORD"; echo oops >&2; exit 3', undefined, { WORD: 'word' })
  assert.equal(res.exitCode, 3)
  assert.ok(res.result.includes('red word\n') && res.result.includes('oops\n'), res.result)
})
await step('exec in a directory that is not there', async () => {
  const res = await sandbox.process.executeCommand('true', 'no/such/directory')
  assert.equal(res.exitCode, -1)
})
await step('exec that takes too long', () => refused(408, () => sandbox.process.executeCommand('sleep 30', undefined, undefined, 1)))

await step('upload and download', async () => {
  const data = Buffer.from([0, 1, 2, 255, 254, 10, 13, 0])
  await sandbox.fs.createFolder('dir/sub', '755')
  await sandbox.fs.uploadFile(data, 'dir/sub/data.bin')
  await sandbox.fs.uploadFile(Buffer.alloc(0), 'dir/empty')
  assert.deepEqual(await sandbox.fs.downloadFile('dir/sub/data.bin'), data)
  const info = await sandbox.fs.getFileDetails('dir/sub/data.bin')
  assert.equal(info.size, data.length)
  assert.equal(info.isDir, false)
  const names = (await sandbox.fs.listFiles('dir')).map((f) => f.name).sort()
  assert.deepEqual(names, ['empty', 'sub'])
  const both = await sandbox.fs.downloadFiles([{ source: 'dir/sub/data.bin' }, { source: 'dir/nothing' }])
  assert.deepEqual(both[0].result, data)
  assert.ok(both[1].error)
})
await step('a big upload', async () => {
  const big = Buffer.alloc(5 << 20, 'x')
  await sandbox.fs.uploadFile(big, 'big')
  assert.equal((await sandbox.fs.downloadFile('big')).compare(big), 0)
})
await step('permissions, move, delete', async () => {
  await sandbox.fs.uploadFile(Buffer.from('#!/bin/sh\necho ran\n'), 'script')
  await sandbox.fs.setFilePermissions('script', { mode: '755' })
  assert.equal((await sandbox.process.executeCommand('./script')).result, 'ran\n')
  await sandbox.fs.moveFiles('script', 'moved')
  await refused(404, () => sandbox.fs.getFileDetails('script'))
  await sandbox.fs.deleteFile('moved')
  await refused(400, () => sandbox.fs.deleteFile('dir'))
  await sandbox.fs.deleteFile('dir', true)
})
await step('find, search, replace', async () => {
  await sandbox.fs.createFolder('text', '755')
  await sandbox.fs.uploadFile(Buffer.from('one\ntwo needle\n'), 'text/a.txt')
  const found = await sandbox.fs.findFiles('text', 'needle')
  assert.equal(found.length, 1)
  assert.equal(found[0].line, 2)
  assert.equal((await sandbox.fs.searchFiles('text', '*.txt')).files.length, 1)
  const replaced = await sandbox.fs.replaceInFiles([found[0].file], 'needle', 'thread')
  assert.ok(replaced[0].success)
  assert.equal((await sandbox.fs.downloadFile('text/a.txt')).toString(), 'one\ntwo thread\n')
})
if (isolated)
  await step('absolute paths are private', async () => {
    await sandbox.fs.uploadFile(Buffer.from('mine'), '/opt/mine/file')
    assert.equal((await sandbox.process.executeCommand('cat /opt/mine/file; pwd')).result, 'mine/home/daytona\n')
  })

await step('session', async () => {
  session = 'session-1'
  await sandbox.process.createSession(session)
  await refused(409, () => sandbox.process.createSession(session))
  await sandbox.process.executeSessionCommand(session, { command: 'KEPT=yes; cd /' })
  const res = await sandbox.process.executeSessionCommand(session, { command: 'echo $KEPT; pwd; echo e >&2; (exit 7)' })
  assert.equal(res.exitCode, 7)
  assert.equal(res.stdout, 'yes\n/\n')
  assert.equal(res.stderr, 'e\n')
  assert.equal((await sandbox.process.getSession(session)).commands.length, 2)
})
await step('session with followed logs', async () => {
  const res = await sandbox.process.executeSessionCommand(session, {
    command: 'for i in 1 2 3; do echo out$i; echo err$i >&2; sleep 0.05; done',
    runAsync: true,
  })
  let out = '', err = ''
  await sandbox.process.getSessionCommandLogs(session, res.cmdId, (s) => (out += s), (s) => (err += s))
  assert.equal(out, 'out1\nout2\nout3\n')
  assert.equal(err, 'err1\nerr2\nerr3\n')
  assert.equal((await sandbox.process.getSessionCommand(session, res.cmdId)).exitCode, 0)
  const logs = await sandbox.process.getSessionCommandLogs(session, res.cmdId)
  assert.equal(logs.stdout, out)
})
await step('session input', async () => {
  const res = await sandbox.process.executeSessionCommand(session, { command: 'read LINE; echo "got $LINE"', runAsync: true })
  await sandbox.process.sendSessionCommandInput(session, res.cmdId, 'hello')
  let out = ''
  await sandbox.process.getSessionCommandLogs(session, res.cmdId, (s) => (out += s), () => {})
  assert.ok(out.includes('got hello\n'), out)
})
await step('session delete', async () => {
  await sandbox.process.deleteSession(session)
  await refused(404, () => sandbox.process.getSession(session))
})
await step('terminal', async () => {
  let seen = ''
  const pty = await sandbox.process.createPty({ id: 'pty-1', cols: 100, rows: 30, onData: (d) => (seen += decoder.decode(d)) })
  await pty.waitForConnection()
  await pty.resize(120, 40)
  await pty.sendInput('stty size; exit 5\n')
  const result = await pty.wait()
  assert.equal(result.exitCode, 5)
  assert.ok(seen.includes('40 120'), seen)
})
await step('preview', async () => {
  const link = await sandbox.getPreviewLink(3000)
  assert.ok(link.url && link.token)
})

await step('pause is refused', () => refused(422, () => sandbox.pause()))
await step('stop and start', async () => {
  await sandbox.fs.uploadFile(Buffer.from('kept'), 'kept')
  await sandbox.stop()
  assert.equal(sandbox.state, 'stopped')
  await refused(400, () => sandbox.process.executeCommand('true'))
  await refused(400, () => sandbox.stop())
  await sandbox.start()
  assert.equal(sandbox.state, 'started')
  assert.equal((await sandbox.fs.downloadFile('kept')).toString(), 'kept')
})
await step('pause and resume a virtual machine', async () => {
  const vm = await daytona.create({ snapshot: 'daytona-vm-small' })
  await vm.process.createSession('counter')
  await vm.process.executeSessionCommand('counter', { command: 'N=0; while :; do N=$((N+1)); echo $N > n; sleep 0.01; done', runAsync: true })
  await vm.pause()
  assert.equal(vm.state, 'paused')
  await refused(400, () => vm.process.executeCommand('true'))
  await vm.start()
  assert.equal(vm.state, 'started')
  const first = (await vm.process.executeCommand('cat n; sleep 0.1')).result
  assert.notEqual((await vm.process.executeCommand('cat n')).result, first)
  await vm.delete()
})
await step('intervals', async () => {
  await sandbox.setAutostopInterval(30)
  await sandbox.setAutoDeleteInterval(60)
  await sandbox.refreshData()
  assert.equal(sandbox.autoStopInterval, 30)
  assert.equal(sandbox.autoDeleteInterval, 60)
  await sandbox.refreshActivity()
})

const snapshotName = `tour-ts:${Date.now()}`
await step('snapshot with context', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'tour-'))
  mkdirSync(join(dir, 'app'))
  writeFileSync(join(dir, 'app', 'greeting.txt'), 'hello from the context\n')
  const image = Image.base('debian:12')
    .addLocalDir(join(dir, 'app'), 'app')
    .env({ FLAVOUR: 'vanilla' })
    .runCommands('cat app/greeting.txt', 'echo made by a build > built')
  let logs = ''
  const snapshot = await daytona.snapshot.create({ name: snapshotName, image, resources: { cpu: 2, memory: 2, disk: 5 } }, { onLogs: (l) => (logs += l) })
  assert.equal(snapshot.state, 'active')
  assert.equal(snapshot.cpu, 2)
  assert.ok(logs.includes('hello from the context'), logs)
  const s = await daytona.create({ snapshot: snapshotName })
  assert.equal(s.cpu, 2)
  await s.delete()
})
await step('snapshot names are unique', () => refused(409, () => daytona.snapshot.create({ name: snapshotName, image: 'debian:12' })))
await step('failed build', async () => {
  let error
  try {
    await daytona.snapshot.create({ name: 'tour-ts-failing', image: Image.base('debian:12').runCommands('exit 9') })
  } catch (e) {
    error = e
  }
  assert.match(`${error}`, /returned a non-zero code: 9/)
  await daytona.snapshot.delete(await daytona.snapshot.get('tour-ts-failing'))
})
await step('snapshot list and delete', async () => {
  const page = await daytona.snapshot.list(1, 50)
  assert.ok(page.items.some((s) => s.name === snapshotName))
  await daytona.snapshot.delete(snapshotName)
})
await step('sandbox from an image', async () => {
  const s = await daytona.create({ image: Image.base('debian:12').runCommands('echo declared > /dev/null') })
  assert.equal((await s.process.executeCommand('echo up')).result, 'up\n')
  await s.delete()
})
await step('delete', async () => {
  await sandbox.delete()
  for (;;) {
    try {
      await daytona.get(sandbox.id)
    } catch (e) {
      assert.equal(e.statusCode, 404)
      break
    }
    await new Promise((r) => setTimeout(r, 20))
  }
  await refused(401, () => sandbox.process.executeCommand('true'))
})
console.log('tour complete')
process.exit(0)
