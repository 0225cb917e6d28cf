import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { CLAUDE, claudeAbsent } from '../support/claude-env.ts'
import { askUntil } from '../support/wait.ts'
import { claudeIn, only, type Rig, type Sent, startRig, words } from './rig.ts'

/** Takes out of claude's output all that says which message it has. */
const SILENT = [
  `/"type":"command_lifecycle"/d`,
  `s/"msg_lifecycle_v1",//`,
  `s/,"user_message_uuids\\?":\\(\\["[^]]*"\\]\\|"[^"]*"\\)//g`,
]
  .map((script) => `-e '${script}'`)
  .join(' ')

/** Takes the ids out of messages: the oldest versions do not know that they have had one before. */
const NAMELESS = `sed -u 's/^{"type":"user","uuid":"[^"]*",/{"type":"user",/' |`

/** The pinned claude as an older one: it does what it is told and never says what it was told. */
async function oldRig(t: TestContext, { knowsIds }: { knowsIds: boolean }): Promise<Rig> {
  const directory = mkdtempSync(join(tmpdir(), 'corral-old-'))
  const program = join(directory, 'claude')
  const input = knowsIds ? '' : NAMELESS
  const lines = [
    '#!/bin/sh',
    `case "$1" in --version) exec '${CLAUDE}' --version;; esac`,
    `${input} '${CLAUDE}' "$@" | sed -u ${SILENT}`,
  ]
  writeFileSync(program, `${lines.join('\n')}\n`)
  chmodSync(program, 0o755)
  const rig = await startRig({ CORRAL_CLAUDE_BIN: program })
  t.after(async () => {
    await rig.close()
    rmSync(directory, { recursive: true, force: true })
  })
  return rig
}

/** How often the model was asked to answer this. */
function asked(rig: Rig, text: string): number {
  return rig.model.requests.filter(({ body }) => {
    const { messages = [] } = (body ?? {}) as { messages?: { role: string }[] }
    const unanswered = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1)
    return JSON.stringify(unanswered).includes(text)
  }).length
}

async function crash(rig: Rig): Promise<void> {
  await rig.daemon.kill9()
  await rig.daemon.restart()
}

/** Moments of a turn, each told by a fact. */
const MOMENTS: Record<string, (rig: Rig, sent: Sent) => Promise<unknown>> = {
  'when the message is in the log': async () => undefined,
  'when the process has started': (_, sent) => sent.until('agent.started'),
  'when the turn has begun': (_, sent) => sent.until('turn.accepted'),
  'when the model is asked': (rig) =>
    askUntil(
      () => asked(rig, '[[drip'),
      (count) => count > 0,
      'a request',
    ),
  'in the middle of the answer': (_, sent) => sent.until('message.delta'),
}

describe('a claude that does not say which messages it has', { skip: claudeAbsent }, () => {
  test('any line of the turn proves that it has the message', async (t) => {
    const rig = await oldRig(t, { knowsIds: true })
    const sessionId = await rig.session()
    for (const text of ['one', 'two']) {
      const sent = await rig.send(sessionId, `[[say ${text}]]`)
      assert.equal((await sent.end('turn.completed')).text, text)
      const types = sent.seen.map(({ type }) => type)
      assert.equal(only(sent.seen, 'turn.accepted')[0]?.turnId, sent.turnId)
      assert.ok(types.indexOf('turn.accepted') < types.indexOf('message.completed'), types.join())
    }
  })

  for (const [moment, reached] of Object.entries(MOMENTS)) {
    test(`the daemon dies ${moment}: the model is asked once`, async (t) => {
      const rig = await oldRig(t, { knowsIds: true })
      const sessionId = await rig.session()
      const sent = await rig.send(sessionId, '[[drip 160 50]]')
      await reached(rig, sent)
      await crash(rig)
      assert.equal((await sent.end('turn.completed')).text, words(160))
      assert.equal((await rig.turn(sessionId, '[[say next]]')).text, 'next')
      assert.equal(asked(rig, '[[drip'), 1)
    })
  }

  for (const moment of ['when the turn has begun', 'in the middle of the answer']) {
    test(`nor knows one again: the daemon dies ${moment}, the model is asked once`, async (t) => {
      const rig = await oldRig(t, { knowsIds: false })
      const sessionId = await rig.session()
      assert.equal((await rig.turn(sessionId, '[[say first]]')).text, 'first')
      const sent = await rig.send(sessionId, '[[drip 160 50]]')
      await MOMENTS[moment]!(rig, sent)
      await crash(rig)
      assert.equal((await sent.end('turn.completed')).text, words(160))
      assert.equal((await rig.turn(sessionId, '[[say next]]')).text, 'next')
      assert.equal(asked(rig, '[[drip'), 1)
    })
  }

  test('it dies in the middle of a turn: that fails, and is not tried again', async (t) => {
    const rig = await oldRig(t, { knowsIds: true })
    const cwd = rig.directory()
    const sessionId = await rig.session({ cwd })
    const sent = await rig.send(sessionId, '[[drip 2000 20]]')
    await sent.until('message.delta')
    process.kill(claudeIn(cwd).pid, 'SIGKILL')
    assert.equal((await sent.end('turn.failed')).error.code, 'agent_exited')
    assert.deepEqual([only(sent.seen, 'turn.retried'), asked(rig, '[[drip')], [[], 1])
    assert.equal((await rig.turn(sessionId, '[[say next]]')).text, 'next')
  })

  test('a message to the running turn waits for its end, and runs once', async (t) => {
    const rig = await oldRig(t, { knowsIds: true })
    const sessionId = await rig.session()
    const sent = await rig.send(sessionId, '[[drip 160 50]]')
    await sent.until('message.delta')
    const { steerId } = await rig.client.call('session.steer', { sessionId, content: '[[say steered]]' })
    const follower = rig.follow(sessionId, sent.seq)
    const { text } = await follower.until('turn.completed', ({ turnId }) => turnId === steerId)
    follower.close()
    assert.deepEqual([text, asked(rig, '[[say steered]]')], ['steered', 1])
  })
})
