import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect } from '../../src/client/client.ts'
import { MAIN } from '../support/program.ts'
import { NO_PTY, onScreen } from '../support/screen.ts'
import { until } from '../support/wait.ts'
import { desk } from './desk.ts'
import { newSession } from './support.ts'

const options = NO_PTY === null ? {} : { skip: NO_PTY }
const here = desk()

const base64 = (text: string): string => Buffer.from(text).toString('base64')

async function messages(sessionId: string): Promise<string[]> {
  const { items } = await here.client.call('history.read', { sessionId, limit: 100 })
  return items.flatMap((item) =>
    item.kind === 'user' ? item.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])) : [],
  )
}

test('forty pasted lines are one message', options, async (t) => {
  const { id, screen } = await here.attached(t)
  const text = Array.from({ length: 40 }, (_, at) => `line ${at + 1}`).join('\n')
  screen.paste(text)
  await screen.sees('line 40')
  assert.deepEqual(await messages(id), [])
  screen.type('\r')
  await screen.sees('-- done')
  assert.deepEqual(await messages(id), [text])
})

test('a message of several lines, edited in the middle, with wide characters', options, async (t) => {
  const { id, screen } = await here.attached(t)
  screen.type('first\\\r')
  screen.type('日本🎉x')
  await screen.sees('日本🎉x')
  // Two for the sign, two for each of three, one for x. The cursor goes there after the text is drawn.
  await until(() => screen.cursor().join() === '9,4', 'the cursor')
  screen.type('\u001b\r') // Alt+Enter
  screen.type('third\nfourth')
  screen.type('\u001b[A\u001b[A\u007f') // up to the second line, in the same column; what is before it goes
  await screen.lacks('🎉')
  screen.type('\u0001>\r') // at the beginning of the line
  await screen.sees('-- done')
  assert.deepEqual(await messages(id), ['first\n>日本x\nthird\nfourth'])
})

test('what was sent is remembered over sessions, for nobody else', options, async (t) => {
  const { screen } = await here.attached(t)
  screen.type('[[say remember me]]\r')
  await screen.sees('-- done')
  screen.type('/quit\r')
  assert.equal(await screen.exited, 0)
  const again = (await here.attached(t)).screen
  again.type('unfinished')
  again.type('\u001b[A\u001b[A')
  await again.sees('> [[say remember me]]')
  again.type('\u001b[B\u001b[B')
  await again.sees('> unfinished')
  assert.equal(statSync(join(here.daemon.env['CORRAL_HOME']!, 'typed.jsonl')).mode & 0o777, 0o600)
})

test('Markdown at the width of the terminal, also after the width has changed', options, async (t) => {
  const { screen } = await here.attached(t, { columns: 60 })
  const text =
    '# Title\n\nSome **bold** words that go on for longer than forty columns.\n\n- one\n- two\n\n```js\nlet a = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |'
  screen.type(`[[say64 ${base64(text)}]]\r`)
  await screen.sees('-- done')
  const wide = screen.text()
  assert.match(
    wide,
    /\nTitle\n\nSome bold words that go on for longer than forty columns\.\n\n• one\n• two\n\n {2}let a = 1\n\na │ b\n──┼──\n1 │ 2\n/,
  )
  assert.ok(screen.raw().includes('\u001b[1mbold\u001b[22m'))
  assert.ok(screen.raw().includes('\u001b[35mlet\u001b[39m'))
  await screen.resize(40, 24)
  await screen.sees('\nSome bold words that go on for longer\nthan forty columns.\n')
  await until(() => screen.text().split('• one').length === 2, 'the list, once')
})

test('calls are one line that opens, a status tells what it is doing, Esc stops it', options, async (t) => {
  const { screen } = await here.attached(t, {}, '--mode', 'auto')
  screen.type('[[shell echo one]]\r')
  await screen.sees('✓ Shell echo one · (pretend) ran: echo one')
  screen.type('\u000f')
  await screen.sees('    command: echo one\n    │ (pretend) ran: echo one')
  screen.type('\u000f')
  await screen.lacks('command: echo one')
  await screen.sees('-- done')
  screen.type('[[hang]]\r')
  await screen.sees(/ \d+ s · working · Esc stops it/)
  screen.type('wait')
  screen.type('\u001b')
  await screen.sees('-- interrupted')
  await screen.sees('> wait')
})

test('commands of its own, and unknown ones ask first', options, async (t) => {
  const { id, screen } = await here.attached(t, {}, '--mode', 'ask')
  screen.type('/mode plan\r')
  await screen.sees('demo · plan')
  screen.type('/effort high\r')
  await screen.sees('effort high')
  screen.type('/mode nonsense\r')
  await screen.sees('/mode is one of auto, code, plan, ask; now it is plan')
  screen.type('/help\r')
  await screen.sees('/diff')
  screen.type('/foo bar\r')
  await screen.sees(/send it to the agent as a message\?\s\[y\/n\]/)
  screen.type('n')
  await screen.lacks('[y/n]')
  assert.deepEqual(await messages(id), [])
  screen.type('\r')
  await screen.sees('[y/n]')
  screen.type('y')
  await until(async () => (await messages(id)).includes('/foo bar'))
})

test('the queue is shown, and can be changed', options, async (t) => {
  const { id, screen } = await here.attached(t)
  screen.type('[[hang]]\r')
  await screen.sees('Esc stops it')
  screen.type('[[say second]]\r')
  await screen.sees('waits: [[say second]]')
  await screen.sees('1 queued')
  screen.type('/queue edit 1\r')
  await screen.sees('> [[say second]]')
  await screen.lacks('waits:')
  screen.type('\u0015[[say third]]\r')
  await screen.sees('waits: [[say third]]')
  screen.type('\u001b')
  await screen.sees('\nthird')
  assert.deepEqual(await messages(id), ['[[hang]]', '[[say third]]'])
})

test('files and commands are completed by Tab', options, async (t) => {
  writeFileSync(join(here.daemon.project, 'unusual-name.txt'), 'x')
  const { screen } = await here.attached(t)
  screen.type('look at @unus')
  await screen.sees('› @unusual-name.txt')
  screen.type('\t')
  await screen.sees('> look at @unusual-name.txt')
  screen.type('\u0003')
  await screen.sees('Up brings it back')
  screen.type('/mod')
  await screen.sees('› /mode')
  screen.type('\u001b[B\t')
  await screen.sees('> /model')
})

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

test('the path of a picture that is pasted is the picture', options, async (t) => {
  const path = join(here.daemon.project, 'a shot.png')
  writeFileSync(path, PIXEL)
  writeFileSync(join(here.daemon.project, 'no.png'), 'not a picture')
  const { id, screen } = await here.attached(t)
  screen.paste(`'${path}' `)
  await screen.sees('> [image a shot.png]')
  screen.type('[[attachments]]\r')
  await screen.sees(`attachments: 1 image/png/${PIXEL.length}`)
  screen.paste(join(here.daemon.project, 'no.png'))
  await screen.sees('no.png is no picture')
  assert.equal((await messages(id)).length, 1)
})

test('Ctrl+V attaches the picture that is in the clipboard', options, async (t) => {
  const bin = join(here.daemon.home, 'clipboard')
  mkdirSync(bin)
  const env = { ...here.daemon.env, PATH: `${bin}:${here.daemon.env['PATH']}` }
  // One that is there and finds nothing, and then one that prints it.
  for (const [name, script] of [
    ['wl-paste', 'exit 1'],
    ['xclip', `[ "$*" = "-selection clipboard -target image/png -o" ] && cat '${join(bin, 'picture')}'`],
    ['pngpaste', 'exit 1'],
  ] as const)
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  const { screen } = await here.attached(t, { env })
  screen.type('\u0016')
  await screen.sees('no picture was found in the clipboard')
  writeFileSync(join(bin, 'picture'), PIXEL)
  screen.type('\u0016')
  await screen.sees('> [image clipboard.png]')
  screen.type('[[attachments]]\r')
  await screen.sees(`attachments: 1 image/png/${PIXEL.length}`)
})

test('a lost daemon is said, and the conversation goes on where it was', options, async (t) => {
  const { id, screen } = await here.attached(t)
  screen.type('[[drip 100000 25]]\r')
  await screen.sees('w5')
  await here.daemon.kill9()
  await screen.sees('the daemon is not reachable')
  screen.type('typed meanwhile')
  await screen.sees('> typed meanwhile')
  await here.daemon.restart()
  await screen.lacks('not reachable')
  here.client.close()
  here.client = await connect(here.daemon.socket)
  screen.type('\u001b')
  await screen.sees('-- interrupted')
  assert.match(screen.all().replaceAll('\n', ' '), /w1 w2 w3 w4 w5 w6 w7/)
  assert.deepEqual(await messages(id), ['[[drip 100000 25]]'])
})

test('the terminal is as it was: left, ended by a signal', options, async (t) => {
  for (const end of ['\u0003', '\u0004', 'TERM', 'HUP'] as const) {
    const id = await newSession(here.daemon)
    const words = [process.execPath, MAIN, 'attach', id].map((word) => `'${word}'`).join(' ')
    const screen = onScreen(t, ['sh', '-c', `echo pid $$; exec sh -c "${words}; stty -a; echo over"`], {
      env: here.daemon.env,
    })
    await screen.sees(/\n>\n/)
    assert.equal(screen.wantsPastes(), true)
    if (end.length === 1) screen.type(end)
    else process.kill(await processOf(id), `SIG${end}`)
    await screen.sees('over')
    assert.match(screen.all(), /[^-]icanon/)
    assert.match(screen.all(), /[^-]echo /)
    assert.equal(screen.wantsPastes(), false)
  }
})

test('the terminal is as it was after a crash', options, async (t) => {
  const tty = join(import.meta.dirname, '../../src/cli/attach/tty.ts')
  const program = `import { openTty } from '${tty}'
    const { stdin, stdout } = process
    openTty({ stdin, stdout }, { press() { throw new Error('a bug') }, changed() {}, leave() {} })
    console.log('ready')`
  const script = `'${process.execPath}' --input-type=module -e "$PROGRAM"; stty -a; echo over`
  const screen = onScreen(t, ['sh', '-c', script], { env: { ...here.daemon.env, PROGRAM: program } })
  await screen.sees('ready')
  assert.equal(screen.wantsPastes(), true)
  screen.type('x')
  await screen.sees('over')
  assert.match(screen.all(), /a bug[^]*[^-]icanon/)
  assert.equal(screen.wantsPastes(), false)
})

/** The process that is attached to a session. */
async function processOf(sessionId: string): Promise<number> {
  return until(() => {
    const found = readdirSync('/proc').filter((name) => {
      if (!/^\d+$/.test(name)) return false
      try {
        const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0')
        return words[0] === process.execPath && words.at(-2) === sessionId
      } catch {
        return false
      }
    })
    return Number(found[0] ?? 0)
  })
}

test('new shows the turn and ends with it; what is typed meanwhile is not lost', options, async (t) => {
  const args = ['new', '--agent', 'demo', '--cwd', here.daemon.project]
  const screen = here.corral(t, [...args, '[[say hello there]]'])
  assert.equal(await screen.exited, 0)
  assert.match(screen.all(), /> \[\[say hello there\]\]\n\nhello there\n\n-- done/)

  const id = await newSession(here.daemon)
  const second = here.corral(t, ['send', id, '[[hang]]'])
  await second.sees('Esc stops it')
  second.type('and then')
  await second.sees('> and then')
  await here.client.call('session.interrupt', { sessionId: id })
  await second.sees('the turn is over; Enter sends what you typed')
  second.type(' [[say goodbye]]\r')
  assert.equal(await second.exited, 1) // the turn that it was asked for was interrupted
  assert.match(second.all(), /\ngoodbye\n/)
})

test('what was typed and not sent is there the next time', options, async (t) => {
  const { id, screen } = await here.attached(t)
  screen.type('half a thought')
  await screen.sees('> half a thought')
  process.kill(await processOf(id), 'SIGTERM')
  assert.equal(await screen.exited, 0)
  assert.match(screen.all(), /what you typed and did not send is kept for the next time/)
  const again = here.corral(t, ['attach', id])
  await again.sees('> half a thought')
})

test('who leaves send before the turn is over gets 130', options, async (t) => {
  const screen = here.corral(t, ['send', await newSession(here.daemon), '[[drip 100000 25]]'])
  await screen.sees('writing')
  await screen.sees('w1 w2')
  screen.type('\u0003')
  assert.equal(await screen.exited, 130)
  assert.match(screen.all(), /w1 w2/)
  assert.match(screen.all(), /you left, and the session goes on/)
})

test('a long answer leaves every line in the terminal once', options, async (t) => {
  const { screen } = await here.attached(t, { rows: 12, columns: 50 })
  const lines = Array.from({ length: 60 }, (_, at) => `- item ${at + 1}!`)
  screen.type(`[[tell64 5 ${base64(lines.join('\n'))}]]\r`)
  await screen.sees('-- done')
  const shown = [...screen.all().matchAll(/• item (\d+)!/g)].map(([, number]) => Number(number))
  assert.deepEqual(
    shown,
    lines.map((_, at) => at + 1),
  )
})

test('without colours the marks of Markdown stay', options, async (t) => {
  const { screen } = await here.attached(t, { env: { ...here.daemon.env, NO_COLOR: '1' } })
  screen.type(`[[say64 ${base64('# Title\n\nsome `code`')}]]\r`)
  await screen.sees('# Title\n\nsome `code`')
  assert.doesNotMatch(screen.raw().replaceAll('\u001b', 'ESC'), /ESC\[[0-9;]*[1-9][0-9;]*m/)
})
