import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Refused } from '../../src/agents/acp/files.ts'
import { Terminals } from '../../src/agents/acp/terminals.ts'
import { startTime } from '../../src/agents/host/process.ts'
import type { Session } from '../../src/core/session.ts'
import { aSession } from '../support/session.ts'
import { until } from '../support/wait.ts'

const terminals = new Terminals(process.env)
let root: string
let session: Session

before(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'corral-terminals-')))
  mkdirSync(join(root, 'project/src'), { recursive: true })
  symlinkSync(root, join(root, 'project/out'))
  session = aSession({ cwd: join(root, 'project') })
})
after(() => rmSync(root, { recursive: true, force: true }))

interface Output {
  output: string
  truncated: boolean
  exitStatus?: { exitCode: number | null; signal: string | null }
}

async function create(params: Record<string, unknown>, among = terminals): Promise<string> {
  return ((await among.create(session, params)) as { terminalId: string }).terminalId
}

async function outputOf(terminalId: string, among = terminals): Promise<Output> {
  return (await among.output({ terminalId })) as Output
}

async function finished(params: Record<string, unknown>): Promise<Output> {
  const terminalId = await create(params)
  await terminals.wait({ terminalId })
  const output = await outputOf(terminalId)
  await terminals.release({ terminalId })
  return output
}

/** The pid that a command has written, once it has. */
function pidIn(terminalId: string, among = terminals): Promise<number> {
  return until(async () => {
    const { output } = await outputOf(terminalId, among)
    return output.endsWith('\n') && Number(output)
  }, 'it has written its pid')
}

const gone = (pid: number) => until(() => startTime(pid) === null, `process ${pid} is gone`)

test('runs a program with its arguments, in the directory and the environment that it is given', async () => {
  const script = 'process.stdout.write([process.cwd(), process.env.X, process.argv[1]].join(" "))'
  const env = [{ name: 'X', value: 'y' }]
  const cwd = join(root, 'project/src')
  const told = await finished({ command: process.execPath, args: ['-e', script, 'a b'], cwd, env })
  assert.deepEqual(told, {
    output: `${cwd} y a b`,
    truncated: false,
    exitStatus: { exitCode: 0, signal: null },
  })
})

test('a command of several words is the shell’s, and both its outputs are kept', async () => {
  const told = await finished({ command: 'echo out; echo err >&2; exit 3' })
  assert.deepEqual(told.output.split('\n').sort(), ['', 'err', 'out'])
  assert.equal(told.exitStatus?.exitCode, 3)
})

for (const [what, cwd] of [
  ['elsewhere', () => '/'],
  ['by dots', () => `${root}/project/..`],
  ['by a link', () => join(root, 'project/out')],
  ['where nothing is', () => join(root, 'project/nowhere')],
] as const) {
  test(`runs nothing ${what}`, async () => {
    await assert.rejects(create({ command: 'echo hi', cwd: cwd() }))
  })
}

test('a program that cannot be run is said so', async () => {
  await assert.rejects(create({ command: '/nowhere/program', args: ['x'] }), /cannot be run/)
})

test('keeps the end of a long output, cut between characters', async () => {
  const told = await finished({ command: 'printf "aaaa€€€"', outputByteLimit: 7 })
  assert.deepEqual([told.output, told.truncated], ['€€', true])
})

test('of an output that goes on for ever the end is kept', async () => {
  const told = await finished({
    command: 'yes | head -c 3000000; printf "the €nd"',
    outputByteLimit: 100_000,
  })
  assert.equal(told.truncated, true)
  assert.equal(Buffer.byteLength(told.output), 100_000)
  assert.match(told.output, /^\n?(?:y\n)+the €nd$/)
})

test('what is killed can be looked at until it is released', async () => {
  const terminalId = await create({ command: 'echo $$; exec sleep 600' })
  const pid = await pidIn(terminalId)
  await terminals.kill({ terminalId })
  assert.deepEqual(await terminals.wait({ terminalId }), { exitCode: null, signal: 'SIGTERM' })
  assert.equal((await outputOf(terminalId)).output, `${pid}\n`)
  await terminals.release({ terminalId })
  await assert.rejects(outputOf(terminalId), Refused)
})

test('what is released ends, with all that it has started', async () => {
  const terminalId = await create({ command: 'sleep 600 & echo $!; wait' })
  const pid = await pidIn(terminalId)
  await terminals.release({ terminalId })
  await gone(pid)
})

test('is over when the command is, whatever that has left behind', async () => {
  const terminalId = await create({ command: 'sleep 600 & echo $!' })
  const pid = await pidIn(terminalId)
  assert.deepEqual(await terminals.wait({ terminalId }), { exitCode: 0, signal: null })
  process.kill(pid, 'SIGKILL')
  await terminals.release({ terminalId })
})

test('belongs to its process, and there are only so many', async () => {
  const ids = await Promise.all(Array.from({ length: 3 }, () => create({ command: 'sleep 600' })))
  const strangers = new Terminals(process.env)
  await assert.rejects(strangers.output({ terminalId: ids[0] }), Refused)
  await assert.rejects(strangers.kill({ terminalId: ids[0] }), Refused)
  while (ids.length < 32) ids.push(await create({ command: 'sleep 600' }))
  await assert.rejects(create({ command: 'true' }), /32 terminals/)
  for (const terminalId of ids) await terminals.release({ terminalId })
})

test('is given the environment of its host, not that of this process', async () => {
  const hosted = new Terminals({ PATH: process.env.PATH, OF_THE_HOST: 'yes' })
  const terminalId = await create({ command: 'echo $OF_THE_HOST $HOME' }, hosted)
  await hosted.wait({ terminalId })
  assert.equal((await outputOf(terminalId, hosted)).output, 'yes\n')
})

for (const how of ['end', 'letGo'] as const) {
  test(`${how}: what runs ends, and one that is being started is not left behind`, async () => {
    const ending = new Terminals(process.env)
    const terminalId = await create({ command: 'echo $$; exec sleep 600' }, ending)
    const pid = await pidIn(terminalId, ending)
    const created = create({ command: 'sleep 600' }, ending)
    ending[how]()
    await assert.rejects(created, /is gone/)
    await gone(pid)
    await assert.rejects(outputOf(terminalId, ending), Refused)
  })
}
