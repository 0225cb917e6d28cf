import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { connect, type NativeClient } from '../../src/dialects/native/client.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { writeHostile } from '../support/hostile-log.ts'
import { CODES, DECEIT, HOSTILE, MARKUP } from '../support/hostile.ts'
import { until } from '../support/wait.ts'
import { writeHome } from '../support/written.ts'
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

/* oxlint-disable no-control-regex -- that is what they are */

/** Colours of one number each, as we use them; none of the corpus is written like this but `ESC [ 3 1 m`. */
const COLOUR = /\u001b\[(?:0|1|2|22|3[0-9]|39|4[0-9]|49|9[0-7])m/g

/** What Node's line editor does to the line with the prompt. */
const PROMPT = /\u001b\[(?:\d+G|0J|2K|0K|\?2004[hl])|\u001b\[\d*[CD]/g

const UNSEEN =
  /.{0,20}[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069].{0,20}/g

/* oxlint-enable no-control-regex */

/** Everything in what a terminal was told that is neither text nor ours. */
function foreign(printed: string): string[] {
  const rest = printed.replace(/\r+\n/g, '\n').replace(COLOUR, '').replace(PROMPT, '')
  const found = rest.matchAll(UNSEEN)
  return [...found].map(([text]) => JSON.stringify(text))
}

async function printed(t: TestContext, ...args: string[]): Promise<string> {
  const terminal = inTerminal(t, daemon.env, args)
  await terminal.exited
  return terminal.rest()
}

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

test('nor does what is on its way while somebody looks on', options, async (t) => {
  const title = CODES.join(' ').slice(0, 500)
  const { id: sessionId } = await client.call('session.create', {
    agent: 'demo',
    cwd: daemon.project,
    mode: 'ask',
    title,
  })
  const terminal = inTerminal(t, daemon.env, ['attach', sessionId])
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

test('JSON is the same, and commands no terminal either', async () => {
  const [first] = hostile
  const { stdout, json } = await corral(daemon.env, ['history', first!, '--json', '--limit', '2000'])
  assert.deepEqual(foreign(stdout), [])
  const texts = json<{ kind: string; text?: string }>().filter(({ kind }) => kind === 'assistant')
  assert.ok(texts.some(({ text }) => text === CODES[0]) && HOSTILE.includes(texts[0]!.text!))
})
