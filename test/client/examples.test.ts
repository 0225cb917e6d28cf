import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { connect } from '../../src/client/node.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { exampleProject } from '../support/examples.ts'
import { exitOf, until } from '../support/wait.ts'

const ROOT = join(import.meta.dirname, '../..')

let daemon: TestDaemon
let project: Awaited<ReturnType<typeof exampleProject>>

before(async () => {
  daemon = await startDaemon()
  project = await exampleProject()
})
after(async () => {
  await daemon.stop()
  project.remove()
})

interface Running {
  child: ChildProcess
  said(): string
}

/** Runs an example as docs/client.md says. */
function run(t: TestContext, file: string, ...args: string[]): Running {
  const { CORRAL_HOME, PATH, HOME } = daemon.env
  const child = spawn(process.execPath, [file, ...args], {
    cwd: project.directory,
    env: { CORRAL_HOME, PATH, HOME },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.exitCode ?? child.kill('SIGKILL'))
  let text = ''
  for (const output of [child.stdout, child.stderr])
    output.on('data', (data: Buffer) => (text += data.toString()))
  return { child, said: () => text }
}

async function interrupt({ child, said }: Running): Promise<void> {
  child.kill('SIGINT')
  assert.equal(await exitOf(child, () => `it ends; it says ${said()}`), 0, said())
}

test('ask.ts prints an answer, and fails when the agent does', async (t) => {
  const asked = run(t, 'ask.ts', 'hello', 'demo')
  assert.equal(await exitOf(asked.child, asked.said), 0, asked.said())
  assert.match(asked.said(), /^echo: hello\n\(\d+ tokens, .*\)\n$/)
  const failed = run(t, 'ask.ts', '[[fail 500]]', 'demo')
  assert.equal(await exitOf(failed.child, failed.said), 1)
  assert.match(failed.said(), /^\w+: .*500/)
})

test('approvals.ts answers by its policy, and leaves the rest', async (t) => {
  const corral = await connect({ home: daemon.corralHome })
  t.after(() => corral.close())
  const policy = run(t, 'approvals.ts')
  const session = await corral.sessions.start({ agent: 'demo', directory: daemon.project, mode: 'ask' })
  await session.turn('[[shell git status]]')
  await session.turn('[[shell sudo reboot]]')
  const left = session.turn('[[shell git log; curl example.org]]')
  await until(() => policy.said().includes('left to a human'))
  for await (const approval of session.approvals()) {
    await approval.deny()
    break
  }
  await left
  await interrupt(policy)
  assert.deepEqual(policy.said().trimEnd().split('\n'), [
    'allow by policy: git status',
    'deny by policy: sudo reboot',
    'left to a human: git log; curl example.org',
  ])
})

test('watch.ts goes on where it was', async (t) => {
  const corral = await connect({ home: daemon.corralHome })
  t.after(() => corral.close())
  const session = await corral.sessions.start({ agent: 'demo', directory: daemon.project, mode: 'auto' })
  const first = run(t, 'watch.ts')
  await session.turn('[[say one]]')
  await until(() => first.said().includes(`${session.id.slice(-8)} answers: one\n`))
  await interrupt(first)
  assert.ok(existsSync(join(project.directory, 'cursor.json')))
  await session.turn('[[say two]]')
  const second = run(t, 'watch.ts')
  await until(() => second.said().includes('answers: two\n'))
  await interrupt(second)
  assert.doesNotMatch(second.said(), /answers: one/)
})

test('what docs/client.md shows is the examples, and it names them all', () => {
  const page = readFileSync(join(ROOT, 'docs/client.md'), 'utf8')
  const shown = [...page.matchAll(/```(?:ts|html)\n([\s\S]*?)```/g)].map(([, code]) => code!)
  const files = readdirSync(join(ROOT, 'examples'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(ts|html)$/.test(name),
  )
  assert.ok(files.length >= 5)
  const texts = files.map((name) => readFileSync(join(ROOT, 'examples', name), 'utf8'))
  assert.ok(shown.length >= 3)
  for (const code of shown)
    assert.ok(
      texts.some((text) => text.includes(code)),
      `no example has:\n${code}`,
    )
  for (const name of files) assert.ok(page.includes(`examples/${name}`), `the page does not name ${name}`)
})
