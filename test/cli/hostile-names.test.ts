import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { uuid } from '../../src/core/ids.ts'
import { connect, type NativeClient } from '../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { HELD } from '../support/held.ts'
import { CODES, DECEIT } from '../support/hostile.ts'
import { until } from '../support/wait.ts'
import { aPlace, type Checkout, type Place } from '../workspace/support.ts'
import { foreign, printedBy } from './foreign.ts'
import { corral, hasScript } from './support.ts'

/*
 * Names that somebody else has given: of rules, devices, projects, directories and files. No command that lists them may say
 * to a terminal what they say.
 */

const options = hasScript ? {} : { skip: 'needs script(1) of util-linux' }

const SAID = [...CODES, ...DECEIT]
/** A second line that looks like one of ours. */
const FORGED = 'one\nallow  everything'
/** What a file may be called. */
const NAMES = [...SAID, FORGED].map((text) => text.replaceAll(/[/\0]/g, '').slice(0, 60)).filter(isText)

/** What a device or a project may be called: controls are refused, what turns a line around is not. */
const TAKEN = SAID.map((text) => text.replaceAll(/\p{Cc}/gu, '').slice(0, 100)).filter(isText)

let place: Place
let daemon: TestDaemon
let client: NativeClient
let repo: Checkout

before(async () => {
  place = aPlace()
  daemon = await startDaemon({ env: { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' } })
  client = await connect(daemon.socket)
  repo = place.repo(NAMES.find((name) => name.includes('cleared'))!)
})

after(async () => {
  client.close()
  await daemon.stop()
  place.close()
})

/** Half a pair cannot be in a name. */
function isText(name: string): boolean {
  return name !== '' && name.isWellFormed() && Buffer.byteLength(name) < 200
}

for (const name of ['rule', 'device', 'project'] as const)
  test(`names of a ${name} command no terminal`, options, async (t) => {
    await MAKE[name]()
    for (const args of SHOWN[name]) {
      const text = await printedBy(t, daemon.env, args)
      assert.deepEqual([args, foreign(text)], [args, []])
      assert.ok(text.length > 500, `${args.join(' ')}: ${text}`)
    }
  })

const MAKE = {
  async rule() {
    const rules = { allow: SAID.map((text) => `shell(${text})`), deny: SAID.map((text) => `edit(${text}*)`) }
    const path = join(place.root, NAMES[1]!)
    mkdirSync(path, { recursive: true })
    await client.call('directory.configure', { path, rules })
  },
  async device() {
    for (const name of TAKEN) {
      const { pin } = await client.call('device.pin', {})
      await client.call('device.pair', { pin, name })
    }
  },
  async project() {
    for (const name of TAKEN)
      await client.call('project.create', {
        id: uuid(),
        name,
        description: TAKEN.join(' ').slice(0, 900),
        repos: [repo.path],
      })
  },
}

const SHOWN = {
  rule: [
    ['rule', 'ls'],
    ['rule', 'ls', '--json'],
  ],
  device: [
    ['device', 'ls'],
    ['device', 'ls', '--json'],
  ],
  project: [
    ['project', 'ls'],
    ['project', 'ls', '--json'],
  ],
}

test('a device or a project cannot be called what commands a terminal', async () => {
  const refused = { code: 'invalid', data: { field: 'name', code: 'invalid' } }
  for (const text of CODES) {
    const name = text.slice(0, 100)
    const { pin } = await client.call('device.pin', {})
    await assert.rejects(client.call('device.pair', { pin, name }), refused)
    await assert.rejects(client.call('project.create', { id: uuid(), name }), refused)
  }
})

test('a rule of several lines is one line, and hides nothing', async () => {
  const { id: sessionId } = await client.call('session.create', { agent: 'demo', cwd: daemon.project })
  const hidden = 'shell(ls \u001b]0;rm -rf .\u0007 -l)'
  await client.call('session.configure', { sessionId, rules: { allow: [`shell(${FORGED})`, hidden] } })
  const { stdout } = await corral(daemon.env, ['rule', 'ls', '--session', sessionId])
  assert.deepEqual(stdout.trimEnd().split('\n').slice(1), [
    'allow  shell(one⟨U+000A⟩allow  everything)',
    'allow  shell(ls ⟨U+001B⟩]0;rm -rf .⟨U+0007⟩ -l)',
  ])
})

test('names and lines of files command no terminal', options, async (t) => {
  const { id, cwd } = await client.call('session.create', { agent: 'demo', cwd: repo.path, worktree: true })
  await client.call('session.send', { sessionId: id, content: HELD })
  const asked = await until(async () => (await client.call('approval.list', { sessionId: id })).approvals[0])
  for (const name of NAMES) writeFileSync(join(cwd, name), `${SAID.join('\n')}\n`)
  const answer = { behavior: 'respond', text: '[[say done]]' } as const
  await client.call('approval.decide', { approvalId: asked.id, ...answer })
  await until(async () => (await client.call('session.get', { sessionId: id })).turn === null, 'it has ended')
  const { checkpoints } = await client.call('checkpoint.list', { sessionId: id })
  const turnId = checkpoints[0]!.turnId
  for (const args of [
    ['worktree', 'ls'],
    ['worktree', 'show', id],
    ['worktree', 'diff', id],
    ['changes', id],
    ['changes', id, '--uncommitted', '--json'],
    ['checkpoint', 'ls', id],
    ['restore', id, turnId],
    // Refused, with the names of what would be lost.
    ['worktree', 'rm', id],
  ]) {
    const text = await printedBy(t, daemon.env, args)
    assert.deepEqual([args, foreign(text)], [args, []])
    assert.ok(text.length > 20, `${args.join(' ')}: ${text}`)
  }
  const { stdout } = await corral(daemon.env, ['changes', id])
  const titles = stdout.split('\n').filter((line) => /^added [^\n]* \(\+\d+ -0\)$/.test(line))
  assert.equal(titles.length, NAMES.length, 'the name of each file is one line')
})

test('messages that wait, and answers as they are written, command no terminal', options, async (t) => {
  const say = `[[say64 ${Buffer.from(SAID.join('\n')).toString('base64')}]]`
  // Text that runs on; what is drawn on a screen is looked at in attach/.
  const args = ['new', '--agent', 'demo', '--cwd', daemon.project, say]
  const made = await printedBy(t, daemon.env, args, 'dumb')
  assert.deepEqual(foreign(made), [])
  assert.match(made, /the clipboard/)
  const { id } = await client.call('session.create', { agent: 'demo', cwd: daemon.project })
  const sent = await printedBy(t, daemon.env, ['send', id, say], 'dumb')
  assert.deepEqual(foreign(sent), [])
  assert.match(sent, /the clipboard/)
  await client.call('session.send', { sessionId: id, content: HELD })
  for (const content of SAID) await client.call('session.send', { sessionId: id, content })
  const waiting = await printedBy(t, daemon.env, ['queue', 'ls', id])
  assert.deepEqual(foreign(waiting), [])
  assert.equal(waiting.trim().split('\n').length, SAID.length)
})
