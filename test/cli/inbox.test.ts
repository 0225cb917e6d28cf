import assert from 'node:assert/strict'
import { stripVTControlCharacters } from 'node:util'
import { describe, test, type TestContext } from 'node:test'
import type { InboxItem } from '../../src/cli/inbox-items.ts'
import { drawInbox, type InboxState } from '../../src/cli/inbox-view.ts'
import { cells, fit, wrap } from '../../src/cli/width.ts'
import type { TestDaemon } from '../support/daemon.ts'
import { until } from '../support/wait.ts'
import { corral, daemonFor, hasScript, inTerminal, newSession, stranger } from './support.ts'

const terminal = { skip: !hasScript && 'needs script(1)' }

/** A session that waits for a decision about a command. */
async function asking(daemon: TestDaemon, title: string, command: string): Promise<string> {
  const id = await newSession(daemon, '--title', title, '--mode', 'ask')
  await corral(daemon.env, ['send', '--no-wait', id, `[[shell ${command}]]`])
  await until(async () => (await open(daemon)).some(({ sessionId }) => sessionId === id), `${title} asks`)
  return id
}

interface Item {
  kind: string
  sessionId: string
  name: string
  approval?: { id: string }
}

async function open(daemon: TestDaemon): Promise<Item[]> {
  return (await corral(daemon.env, ['inbox', '--json'])).json<Item>()
}

async function decisionOf(daemon: TestDaemon, approvalId: string): Promise<unknown> {
  const [approval] = (await corral(daemon.env, ['approval', 'show', approvalId, '--json'])).json()
  return (approval!['decision'] as { behavior: string } | null)?.behavior ?? null
}

test('in a pipe it is a list, with what to do about each', async (t) => {
  const daemon = await daemonFor(t)
  assert.equal((await corral(daemon.env, ['inbox'])).stderr, 'nothing needs you\n')
  await asking(daemon, 'Clean up', 'rm -rf build')
  const failing = await newSession(daemon, '--title', 'Too much')
  await corral(daemon.env, ['send', failing, '[[fail 529]]'])
  const [asked, failed] = await open(daemon)
  assert.deepEqual(
    [asked?.kind, asked?.name, failed?.kind, failed?.name],
    ['approval', 'Clean up', 'failed', 'Too much'],
  )
  const { stdout } = await corral(daemon.env, ['inbox'])
  const id = asked!.approval!.id.slice(-8)
  assert.match(stdout, /^Clean up {2}~\/project, \d+ s\n {2}wants to use Shell\n {4}command: rm -rf build\n/)
  assert.ok(stdout.includes(`answer with: corral approve ${id}, or: corral deny ${id}\n`), stdout)
  assert.match(stdout, /^Too much .*\n {2}its last turn failed\n {4}The model answered with status 529/m)
  assert.equal((await corral(daemon.env, [])).stdout.includes('Clean up'), true, 'corral alone is the inbox')
  await corral(daemon.env, ['done', failing])
  assert.equal((await open(daemon)).length, 1)
})

describe('in a terminal', terminal, () => {
  test('keys answer what is shown, live, and never what nobody has seen', async (t) => {
    const daemon = await daemonFor(t)
    const screen = inTerminal(t, daemon.env, [])
    await screen.expect('Nothing needs you.')
    await asking(daemon, 'First of all', 'make one')
    await screen.expect('First of all')
    await asking(daemon, 'Second one', 'make two')
    const [one, two] = (await open(daemon)).map(({ approval }) => approval!.id)
    await screen.expect('Second one')
    await screen.expect('y allow')
    screen.type('yy')
    await screen.expect('allowed: First of all')
    await until(async () => (await open(daemon)).length === 1, 'it is gone')
    assert.equal(await decisionOf(daemon, one!), 'allow')
    await screen.expect('y allow')
    assert.equal(await decisionOf(daemon, two!), null, 'the second y was too early to be about this')
    screen.type('n')
    await screen.expect('refused: Second one')
    assert.equal(await decisionOf(daemon, two!), 'deny')
    await screen.expect('Nothing needs you.')
    screen.type('q')
    assert.equal(await screen.exited, 0)
  })

  test('what can wait is put off, and a session is opened and left again', async (t) => {
    const daemon = await daemonFor(t)
    await asking(daemon, 'Later', 'make it')
    const screen = inTerminal(t, daemon.env, ['inbox'])
    await screen.expect('y allow')
    screen.type('o')
    await screen.expect('Later')
    await screen.expect('in this project')
    screen.type('\u0003')
    await screen.expect('1 needs you')
    await screen.expect('s not now')
    screen.type('s')
    await screen.expect('put off for an hour: Later')
    await screen.expect('Nothing needs you.')
    assert.deepEqual(await open(daemon), [])
    screen.type('q')
    assert.equal(await screen.exited, 0)
  })

  test('without a daemon there is a first page, and nothing is started', async (t) => {
    const { env } = stranger(t)
    const screen = inTerminal(t, env, [])
    const page = await screen.expect('corral --help')
    assert.match(page, /No daemon is running yet/)
    assert.match(page, /No agent is installed here|Agents installed here/)
    assert.match(page, /corral new "/)
    assert.equal(await screen.exited, 0)
    assert.equal((await corral(env, ['status'])).code, 3)
  })
})

test('an edit is shown as a diff', async (t) => {
  const daemon = await daemonFor(t)
  const id = await newSession(daemon, '--mode', 'ask')
  await corral(daemon.env, ['send', '--no-wait', id, '[[edit user.ts user person]]'])
  await until(async () => (await open(daemon)).length === 1, 'it asks')
  const { stdout } = await corral(daemon.env, ['inbox'])
  assert.match(stdout, /user\.ts \(modified\)\n {4}@@ .* @@\n {4}-user\n {4}\+person\n/)
})

const plain = (_: unknown, text: string): string => text

function anItem(id: string, name: string, command: string): InboxItem {
  const approval = { id, kind: 'tool', tool: 'Bash', input: { command }, about: { subjects: [command] } }
  const session = { id, name, cwd: '/home/me/shop', agent: 'claude', lastError: null }
  return { kind: 'approval', id, at: 0, approval, session } as unknown as InboxItem
}

function drawn(items: InboxItem[], more: Partial<InboxState> = {}, rows = 24): string[] {
  const state = { items, current: items[0]?.id ?? null, files: null, scrolled: 0, armed: true, said: '' }
  return drawInbox({ ...state, ...more }, { columns: 80, rows, now: 90_000, home: '/home/me' }, plain)
}

function mustFit(t: TestContext, lines: string[], rows: number): void {
  assert.ok(lines.length <= rows, `${t.name}: ${lines.length} lines`)
  for (const line of lines) assert.ok(cells(line) <= 80, line)
}

test('the screen fits, whatever agents and people write, and nothing in it is obeyed', (t) => {
  const hostile = '\u001b[2J\u001b]0;x\u0007\u202efr mr\r'
  const items = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((at) =>
    anItem(`${at}`, `${hostile}日本語 title `.repeat(20), `${hostile}echo ${'x'.repeat(300)}`),
  )
  for (const rows of [24, 10, 5]) mustFit(t, drawn(items, { said: 'x'.repeat(300) }, rows), rows)
  const text = drawn(items).join('\n')
  assert.equal(stripVTControlCharacters(text), text)
  assert.match(text, /⟨U\+001B⟩\[2J/, 'in what is decided about, codes are seen')
  assert.match(text, /~\/shop {2}claude {2}1 min/)
})

test('a command is shown whole: wrapped, and what has no room is said to be there', () => {
  const long = Array.from({ length: 60 }, (_, at) => `echo ${at}`).join('\n')
  const first = drawn([anItem('1', 'Long', long)])
  assert.match(first.join('\n'), /… \d+ more lines: space/)
  const last = drawn([anItem('1', 'Long', long)], { scrolled: 1000 }).join('\n')
  assert.match(last, /echo 59/)
  assert.doesNotMatch(last, /more lines/)
})

test('texts are measured in cells', () => {
  assert.deepEqual([cells('abc'), cells('日本'), cells('e\u0301'), cells('👍')], [3, 4, 1, 2])
  assert.deepEqual(wrap('日本語x', 4), ['日本', '語x'])
  assert.equal(fit('日本語', 5), '日本…')
})
