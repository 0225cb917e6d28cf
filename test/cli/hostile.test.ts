import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { connect, type NativeClient } from '../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { writeHostile } from '../support/hostile-log.ts'
import { CODES, DECEIT, HOSTILE, MARKUP } from '../support/hostile.ts'
import { MAIN } from '../support/program.ts'
import { NO_PTY, onScreen } from '../support/screen.ts'
import { until } from '../support/wait.ts'
import { writeHome } from '../support/written.ts'
import { foreign, printedBy } from './foreign.ts'
import { corral, hasScript, inTerminal } from './support.ts'

const options = hasScript ? {} : { skip: 'needs script(1) of util-linux' }

let daemon: TestDaemon
let client: NativeClient
let hostile: string[] = []

before(async () => {
  const home = mkdtempSync(join(tmpdir(), 'corral-'))
  await writeHome(home, async (writer) => {
    hostile = await writeHostile(writer, [...CODES, ...DECEIT, ...MARKUP.slice(0, 10)])
  })
  daemon = await startDaemon({ home })
  client = await connect(daemon.socket)
})

after(async () => {
  client.close()
  await daemon.stop()
})

const printed = (t: TestContext, ...args: string[]) => printedBy(t, daemon.env, args)

test('what agents said, did and asked commands no terminal', options, async (t) => {
  for (const args of [['ls'], ['top'], ['search', 'hidden'], ['approvals']])
    assert.deepEqual([args, foreign(await printed(t, ...args))], [args, []])
  for (const id of hostile) {
    assert.deepEqual(foreign(await printed(t, 'show', id)), [])
    const past = await printed(t, 'history', id, '--limit', '2000')
    assert.deepEqual([id, foreign(past)], [id, []])
    assert.ok(past.length > 1000)
    assert.deepEqual(foreign(await printed(t, 'export', id)), [])
  }
})

test(
  'nor does what is on its way while somebody looks on, where nothing can be drawn',
  options,
  async (t) => {
    const title = CODES.join(' ').slice(0, 500)
    const { id: sessionId } = await client.call('session.create', {
      agent: 'demo',
      cwd: daemon.project,
      mode: 'ask',
      title,
    })
    const terminal = inTerminal(t, daemon.env, ['attach', sessionId], 'dumb')
    let seen = await terminal.expect('Ctrl-C leaves')
    const send = (content: string) => client.call('session.send', { sessionId, content })
    const said = Buffer.from([...CODES, ...DECEIT].join('\n')).toString('base64')
    await send(`[[think ${CODES.join(' ')}]] [[say64 ${said}]]`)
    seen += await terminal.expect('-- done')
    const name = CODES.join('').replace(/\s/g, '')
    const input = Buffer.from(JSON.stringify(Object.fromEntries(CODES.map((code) => [code, code])))).toString(
      'base64',
    )
    await send(`[[call ${name} ${input}]]`)
    seen += await terminal.expect('allow? [y/n/a/p] ')
    terminal.type(`no ${CODES[0]!.replaceAll('\u001b', '')}\r`)
    seen += await terminal.expect('-- done')
    await send(`[[shell ${CODES.at(-1)}]]`)
    seen += await terminal.expect('allow? [y/n/a/p] ')
    terminal.type('y\r')
    seen += await terminal.expect('-- done')
    terminal.type('/detach\r')
    await terminal.exited
    assert.deepEqual(foreign(seen + terminal.rest()), [])
  },
)

const screenOptions = NO_PTY === null ? {} : { skip: NO_PTY }

/** What a screen is drawn with: moves, wipes, and modes that are switched on and off. */
// oxlint-disable-next-line no-control-regex -- that is what they are
const DRAWN = /\u001b\[(?:\d+[AC]|[GKJ]|\?(?:7|25|2004|2026)[hl]|>1u|<u|(?:3|4|9|23|24|29)m)/g

test('nor on a screen', screenOptions, async (t) => {
  const { id: sessionId } = await client.call('session.create', {
    agent: 'demo',
    cwd: daemon.project,
    mode: 'ask',
    title: CODES.join(' ').slice(0, 500),
  })
  const command = [process.execPath, MAIN, 'attach', sessionId]
  const screen = onScreen(t, command, { env: daemon.env, columns: 100, rows: 50 })
  await screen.sees('\n>\n')
  const send = (content: string) => client.call('session.send', { sessionId, content })
  const said = Buffer.from([...CODES, ...DECEIT, '&#27;]0;title&#7; `&#x9b;2J`'].join('\n\n')).toString(
    'base64',
  )
  await send(`[[think ${CODES.join(' ')}]] [[say64 ${said}]]`)
  await screen.sees('-- done')
  const name = CODES.join('').replace(/\s/g, '')
  const input = Object.fromEntries(CODES.map((code) => [code, code]))
  await send(`[[call ${name} ${Buffer.from(JSON.stringify(input)).toString('base64')}]]`)
  await screen.sees('y once')
  screen.type('\u000f') // opened
  screen.type('y')
  await screen.sees('allowed (cli)')
  screen.paste(CODES.join('\n').replaceAll('\u001b[201~', ''))
  screen.type('\u0003')
  await send(`[[shell ${CODES.at(-1)}]]`)
  await screen.sees('command: ls ⟨U+001B⟩]0; touch hidden ;⟨U+0007⟩ -l')
  screen.type('/quit\r')
  screen.type('\u0003')
  await screen.exited
  assert.deepEqual(foreign(screen.raw().replace(DRAWN, '')), [])
})

test('a command is shown whole before it is decided about, whatever it hides', async () => {
  const [create, content] = [
    { agent: 'demo', cwd: daemon.project, mode: 'ask' } as const,
    `[[shell ${CODES.at(-1)}]]`,
  ]
  const { id: sessionId } = await client.call('session.create', create)
  await client.call('session.send', { sessionId, content })
  const open = await until(async () => (await client.call('approval.list', { sessionId })).approvals[0])
  const { stdout } = await corral(daemon.env, ['approval', 'show', open.id])
  assert.match(stdout, /command: ls ⟨U\+001B⟩\]0; touch hidden ;⟨U\+0007⟩ -l/)
  await client.call('approval.decide', { approvalId: open.id, behavior: 'deny' })
})

test('what waits for a decision, and what is found, command no terminal', options, async (t) => {
  const { id: sessionId } = await client.call('session.create', {
    agent: 'demo',
    cwd: daemon.project,
    mode: 'ask',
  })
  const asked = DECEIT.join(' ').replaceAll(/[\n[\]]/g, '')
  await client.call('session.send', { sessionId, content: `[[shell ${asked}]]` })
  const open = await until(async () => (await client.call('approval.list', { sessionId })).approvals[0])
  for (const [args, says] of [
    [['approvals'], 'U+202E'],
    [['approval', 'show', open.id], 'U+202E'],
    [['history', sessionId], 'U+202E'],
    [['search', 'admin'], 'admin'],
    [['search', 'admin', '--json'], 'admin'],
  ] as const) {
    const text = await printedBy(t, daemon.env, [...args], 'dumb')
    assert.deepEqual([args, foreign(text)], [args, []])
    assert.ok(text.includes(says), `${args.join(' ')}: ${text}`)
  }
  await client.call('approval.decide', { approvalId: open.id, behavior: 'deny' })
})

test('JSON is the same, and commands no terminal either', async () => {
  const [first] = hostile
  const { stdout, json } = await corral(daemon.env, ['history', first!, '--json', '--limit', '2000'])
  assert.deepEqual(foreign(stdout), [])
  const texts = json<{ kind: string; text?: string }>().filter(({ kind }) => kind === 'assistant')
  assert.ok(texts.some(({ text }) => text === CODES[0]) && HOSTILE.includes(texts[0]!.text!))
})
