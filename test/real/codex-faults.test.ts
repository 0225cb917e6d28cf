import assert from 'node:assert/strict'
import { NO_RULES } from '../../src/core/rule.ts'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import { CODEX, codexAbsent } from '../support/codex-env.ts'
import { type CodexRig, decide, endOf, found, only, startCodexRig } from './codex-rig.ts'

const FOLDERS = ['.git', '.codex', '.agents', '.aws']
const words = (count: number) => Array.from({ length: count }, (_, i) => `w${i + 1}`).join(' ')

describe('the real codex in trouble', { skip: codexAbsent, concurrency: false }, () => {
  let rig: CodexRig
  before(async () => {
    rig = await startCodexRig()
  })
  after(() => rig?.close())

  const interrupt = (sessionId: string) => rig.engine.engine.interrupt({ sessionId })
  const fine = async (sessionId: string) => {
    assert.equal(endOf(await rig.turn(sessionId, '[[say fine]]')), 'completed: fine')
  }
  const commandRuns = (mark: string) =>
    found(
      () => rig.processes().some((line) => line.startsWith(mark)),
      () => `${mark} among ${rig.processes().join(' | ')}`,
    )
  const processOf = (sessionId: string) =>
    rig.engine.host.running().find((run) => run.sessionId === sessionId)!.pid
  const idle = (sessionId: string) => {
    const { turn, approvals, queue } = rig.engine.engine.session(sessionId)
    assert.deepEqual([turn, approvals, queue], [null, [], []])
  }

  test('stops in the middle of a text, and keeps what was said', async () => {
    const id = await rig.session()
    const sent = await rig.send(id, '[[drip 2000 20]]')
    await sent.until('message.delta')
    await interrupt(id)
    const events = await sent.end()
    assert.equal(endOf(events), 'interrupted')
    const [half] = only(events, 'message.completed')
    assert.equal(half!.aborted, true)
    assert.match(half!.text, /^w1\b/)
    await fine(id)
  })

  test('stops although the message has only just been sent', async () => {
    const id = await rig.session()
    await fine(id)
    for (let round = 0; round < 5; round++) {
      const sent = await rig.send(id, '[[hang]]')
      if (round > 0) await sent.until('turn.accepted')
      await interrupt(id)
      assert.equal(endOf(await sent.end()), 'interrupted')
    }
    await fine(id)
    assert.deepEqual(only(await rig.turn(id, 'hello'), 'agent.started'), [], 'by asking, not by a signal')
  })

  test('stops a command and all that it started; no folder of the sandbox stays behind', async () => {
    const id = await rig.session({ mode: 'code', rules: { ...NO_RULES, allow: ['*'] } })
    const { cwd } = rig.engine.engine.session(id)
    mkdirSync(join(cwd, '.aws'))
    const sent = await rig.send(id, '[[shell sleep 7001 & tail -f /dev/null]]')
    await commandRuns('tail -f /dev/null')
    await commandRuns('sleep 7001')
    await sent.until('tool.started')
    await interrupt(id)
    const events = await sent.end()
    assert.equal(endOf(events), 'interrupted')
    assert.deepEqual(
      only(events, 'tool.completed').map(({ isError }) => isError),
      [true],
    )
    const left = rig.processes().filter((line) => /tail|sleep 7001/.test(line))
    assert.deepEqual(left, [])
    assert.deepEqual(readdirSync(cwd), ['.aws'], 'what was there before stays')
    assert.deepEqual(only(await rig.turn(id, 'hello'), 'agent.started'), [])
    const [ran] = only(await rig.turn(id, '[[shell echo works]]'), 'tool.completed')
    assert.equal(ran!.output, 'works\n')
  })

  test('stops while it waits for an answer: the question is closed, nothing was done', async () => {
    const id = await rig.session({ mode: 'ask' })
    const sent = await rig.send(id, '[[shell touch never.txt]]')
    const { approval } = await sent.until('approval.requested')
    await interrupt(id)
    assert.equal(endOf(await sent.end()), 'interrupted')
    assert.equal(rig.engine.engine.approval(approval.id).decision?.behavior, 'cancelled')
    assert.ok(!existsSync(join(rig.engine.engine.session(id).cwd, 'never.txt')))
    idle(id)
    await fine(id)
  })

  test('goes on while the engine is gone: not a word is lost or said twice', async () => {
    const id = await rig.session()
    await fine(id)
    const { turnId } = await (async () => {
      const sent = await rig.send(id, '[[drip 60 20]]')
      await sent.until('message.delta')
      return sent
    })()
    const pid = processOf(id)
    await rig.restart()
    const text = await found(
      () => rig.engine.engine.turn(turnId).text,
      () => 'the end of the turn',
    )
    assert.equal(text, words(60))
    const events = rig.engine.engine.events({ sessionId: id, turnId, limit: 1000 }).map(({ event }) => event)
    assert.deepEqual(
      only(events, 'message.completed').map((event) => event.text),
      [words(60)],
    )
    assert.equal(processOf(id), pid)
    await fine(id)
  })

  test('a question outlives the engine, and is answered to the next one', async () => {
    const id = await rig.session({ mode: 'ask' })
    await fine(id)
    const { cwd } = rig.engine.engine.session(id)
    for (const [name, kind] of [
      ['command.txt', '[[shell touch command.txt]]'],
      ['edit.txt', '[[write edit.txt text]]'],
    ] as const) {
      const sent = await rig.send(id, kind)
      const { approval } = await sent.until('approval.requested')
      await rig.restart()
      assert.equal(rig.engine.engine.approvals({ sessionId: id, open: true, limit: 9 }).length, 1)
      await decide(rig, approval.id, { behavior: 'allow' })
      await found(
        () => existsSync(join(cwd, name)),
        () => name,
      )
      assert.match(endOf(await sent.end()), /^completed/)
    }
    await fine(id)
  })

  test('a question is answered although the journal was emptied before its turn', async () => {
    const id = await rig.session({ mode: 'ask' })
    await rig.turn(id, '[[burst 4000 200]]')
    const sent = await rig.send(id, '[[shell touch asked.txt]]')
    const { approval } = await sent.until('approval.requested')
    await rig.restart()
    await decide(rig, approval.id, { behavior: 'allow' })
    assert.match(endOf(await sent.end()), /^completed/)
    assert.ok(existsSync(join(rig.engine.engine.session(id).cwd, 'asked.txt')))
  })

  test('an engine that comes back can stop what was begun before', async () => {
    const id = await rig.session({ mode: 'code', rules: { ...NO_RULES, allow: ['*'] } })
    await fine(id)
    const sent = await rig.send(id, '[[shell sleep 7002]]')
    await commandRuns('sleep 7002')
    await sent.until('tool.started')
    await rig.restart()
    await interrupt(id)
    assert.equal(endOf(await sent.end()), 'interrupted')
    assert.deepEqual(
      rig.processes().filter((line) => line.startsWith('sleep 7002')),
      [],
    )
    const { cwd } = rig.engine.engine.session(id)
    assert.deepEqual(
      FOLDERS.filter((name) => existsSync(join(cwd, name))),
      [],
    )
    await fine(id)
  })

  test('a message that was written when the engine died is answered once', async () => {
    const id = await rig.session()
    await fine(id)
    const before = rig.model.requests.length
    const sent = await rig.send(id, '[[say once]]')
    await rig.restart()
    assert.equal(endOf(await sent.end()), 'completed: once')
    assert.equal(rig.model.requests.length, before + 1)
  })

  test('an engine that dies while the conversation is being opened costs nothing', async () => {
    for (const moment of ['agent.started', 'agent.init'] as const) {
      const id = await rig.session()
      const sent = await rig.send(id, '[[say hello]]')
      await sent.until(moment)
      await rig.restart()
      assert.equal(endOf(await sent.end()), 'completed: hello', moment)
      const started = rig.engine.engine.events({ sessionId: id, types: ['agent.started'], limit: 9 })
      assert.equal(started.length, 1, moment)
    }
  })

  test('killed in the middle of an answer it fails the turn, and the next message resumes', async () => {
    const id = await rig.session()
    await rig.turn(id, '[[remember PLUM]] [[say noted]]')
    const sent = await rig.send(id, '[[drip 2000 20]]')
    await sent.until('message.delta')
    process.kill(processOf(id), 'SIGKILL')
    process.kill(-processOf(id), 'SIGKILL')
    const [failed] = only(await sent.end(), 'turn.failed')
    assert.equal(failed!.error.code, 'agent_exited')
    assert.equal(endOf(await rig.turn(id, '[[recall]]')), 'completed: recall: PLUM')
  })

  test('however its process ends, the folders of the sandbox go', async () => {
    const ways = {
      'the session is destroyed': (id: string) => rig.engine.engine.destroy(id),
      'the process is ended': (id: string) => rig.engine.host.end(id),
      'the process is killed': (id: string) => process.kill(-processOf(id), 'SIGKILL'),
    }
    for (const [how, end] of Object.entries(ways)) {
      const id = await rig.session({ mode: 'code', rules: { ...NO_RULES, allow: ['*'] } })
      const { cwd } = rig.engine.engine.session(id)
      await rig.send(id, '[[shell sleep 7003]]')
      await commandRuns('sleep 7003')
      assert.deepEqual(readdirSync(cwd).toSorted(), FOLDERS.toSorted(), how)
      await end(id)
      await rig.engine.event('agent.exited', { sessionId: id })
      assert.deepEqual(readdirSync(cwd), [], how)
    }
  })

  test('a failure of the model fails the turn with its status, and the next one works', async () => {
    const id = await rig.session()
    for (const [status, told] of [
      [401, 401],
      [429, 429],
      [500, null],
    ]) {
      const [failed] = only(await rig.turn(id, `[[fail ${status}]]`), 'turn.failed')
      assert.deepEqual([failed!.error.code, failed!.error.detail?.['status']], ['model_error', told])
    }
    await fine(id)
  })

  test('what is no protocol is mentioned and passed over', async (t) => {
    const noisy = await wrapped(t, `echo 'Hello from a shell'\necho '{"half":'\nexec "$CODEX" "$@"`)
    const id = await noisy.session()
    const events = await noisy.turn(id, '[[say clear]]')
    assert.equal(endOf(events), 'completed: clear')
    assert.equal(only(events, 'agent.notice').filter(({ code }) => code === 'agent_output').length, 2)
  })

  test('a Codex that is not signed in says how to sign in', async (t) => {
    const stranger = await wrapped(t, 'exec "$CODEX" "$@"')
    writeFileSync(
      stranger.config,
      '[features]\nplugins = false\napps = false\n[analytics]\nenabled = false\n',
    )
    const [failed] = only(await stranger.turn(await stranger.session(), 'hello'), 'turn.failed')
    assert.equal(failed!.error.code, 'not_signed_in')
    assert.match(failed!.error.message, /codex login/)
  })

  /** A rig of its own, whose codex is a script; a stranger's key is no help in it. */
  async function wrapped(t: TestContext, script: string): Promise<CodexRig> {
    const folder = mkdtempSync(join(tmpdir(), 'corral-codex-script-'))
    const path = join(folder, 'codex')
    writeFileSync(path, `#!/bin/sh\n[ "$1" = --version ] && exec "$CODEX" "$@"\n${script}\n`)
    chmodSync(path, 0o755)
    const own = await startCodexRig({ CORRAL_CODEX_BIN: path, CODEX })
    t.after(async () => {
      await own.close()
      rmSync(folder, { recursive: true, force: true })
    })
    return own
  }
})
