import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import * as codecast from '../dialects/codecast/client.ts'
import { claudeAbsent } from '../support/claude-env.ts'
import {
  claudeIn,
  endAll,
  eventually,
  nobodyIn,
  only,
  processesIn,
  type Rig,
  startRig,
  words,
} from './rig.ts'

describe('the real claude in trouble', { skip: claudeAbsent }, () => {
  let rig: Rig
  before(async () => {
    rig = await startRig()
  })
  after(() => rig.close())

  test('killed in the middle of an answer it fails the turn in plain words, and the next message resumes', async () => {
    const cwd = rig.directory()
    const sessionId = await rig.session({ cwd })
    await rig.turn(sessionId, 'hello [[remember KIWI]]')
    const sent = await rig.send(sessionId, '[[drip 2000 20]]')
    await sent.until('message.delta')
    process.kill(claudeIn(cwd).pid, 'SIGKILL')
    const { error } = await sent.end('turn.failed')
    assert.equal(error.code, 'agent_exited')
    assert.equal(error.message, 'Claude Code was killed (SIGKILL) during the turn')
    const [half] = only(sent.seen, 'message.completed')
    assert.equal(half!.aborted, true)
    const view = await rig.view(sessionId)
    assert.deepEqual([view.status, view.tier, view.lastError?.code], ['idle', 'cold', 'agent_exited'])
    assert.equal((await rig.turn(sessionId, '[[recall]]')).text, 'recall: KIWI')
  })

  test('killed while a command runs it takes the command with it', async (t) => {
    const cwd = rig.directory()
    t.after(() => endAll(cwd))
    const sessionId = await rig.session({ cwd })
    const sent = await rig.send(sessionId, '[[shell tail -f /dev/null]]')
    await sent.until('tool.started')
    await eventually(
      () => commands(cwd),
      (found) => found.includes('tail -f /dev/null'),
      'the command runs',
    )
    process.kill(claudeIn(cwd).pid, 'SIGKILL')
    await sent.end('turn.failed')
    await nobodyIn(cwd)
    assert.equal((await rig.turn(sessionId, '[[say fine]]')).text, 'fine')
  })

  test('killed while it waits for an answer, the question is withdrawn', async () => {
    const cwd = rig.directory()
    const sessionId = await rig.session({ cwd, mode: 'ask' })
    const sent = await rig.send(sessionId, '[[shell touch never.txt]]')
    const { approval } = await sent.until('approval.requested')
    process.kill(claudeIn(cwd).pid, 'SIGKILL')
    await sent.end('turn.failed')
    const { decision } = await rig.client.call('approval.get', { approvalId: approval.id })
    assert.equal(decision?.behavior, 'cancelled')
    const late = await rig.corral('approve', approval.id)
    assert.equal(late.code, 1)
    assert.match(late.stderr, /resolved before: cancelled/)
  })

  test('killed while it is idle it costs nothing: the next message starts another', async () => {
    const cwd = rig.directory()
    const sessionId = await rig.session({ cwd })
    await rig.turn(sessionId, 'hello [[remember LIME]]')
    process.kill(claudeIn(cwd).pid, 'SIGKILL')
    assert.equal((await rig.turn(sessionId, '[[recall]]')).text, 'recall: LIME')
  })

  for (const status of [401, 429, 529]) {
    test(`the model answers ${status}: the turn fails with the status, and the session stays usable`, async () => {
      const sessionId = await rig.session()
      const sent = await rig.send(sessionId, `[[fail ${status}]]`)
      const { error } = await sent.end('turn.failed')
      assert.equal(error.code, 'model_error')
      assert.equal(error.detail?.['status'], status)
      assert.match(error.message, new RegExp(String(status)))
      const notices = only(sent.seen, 'agent.notice').map(({ code }) => code)
      assert.ok(notices.includes('model_retry'), JSON.stringify(notices))
      const stream = await codecast.send(rig.daemon.codecast, sessionId, `[[fail ${status}]]`)
      const told = await stream.rest()
      assert.deepEqual(codecast.types(told).slice(-2), ['error', '[DONE]'])
      assert.equal((await rig.turn(sessionId, '[[say back]]')).text, 'back')
    })
  }

  test('a model that never answers is left by an interrupt', async () => {
    const sessionId = await rig.session()
    const requested = rig.model.next()
    const sent = await rig.send(sessionId, '[[hang]]')
    await requested
    assert.equal((await rig.corral('interrupt', sessionId)).stdout, 'interrupting\n')
    await sent.end('turn.interrupted')
    assert.equal((await rig.turn(sessionId, '[[say free]]')).text, 'free')
  })

  test('an interrupt before the process has even started ends the turn, and nothing reaches the model', async () => {
    const sessionId = await rig.session()
    const before = rig.model.requests.length
    const sent = await rig.send(sessionId, '[[say too late]]')
    await rig.client.call('session.interrupt', { sessionId })
    await sent.end('turn.interrupted')
    assert.equal((await rig.turn(sessionId, '[[say in time]]')).text, 'in time')
    const asked = rig.model.requests.slice(before).map(({ body }) => JSON.stringify(body))
    assert.ok(!asked.some((body) => body.includes('too late') && !body.includes('in time')))
  })

  test('a directory that is gone while the process lives: the turn ends, one way or the other', async () => {
    const cwd = rig.directory()
    const sessionId = await rig.session({ cwd })
    await rig.turn(sessionId, 'hello')
    rmSync(cwd, { recursive: true })
    const sent = await rig.send(sessionId, '[[say still]]')
    const end = await sent.until(['turn.completed', 'turn.failed'])
    sent.close()
    assert.ok(end.type === 'turn.completed' || end.error.message !== '')
    await rig.client.call('session.destroy', { sessionId })
    await nobodyIn(cwd)
  })

  test('a directory that is gone when the process must start is named in the reason', async () => {
    const cwd = rig.directory()
    const sessionId = await rig.session({ cwd })
    rmSync(cwd, { recursive: true })
    const { error } = await (await rig.send(sessionId, 'hello')).end('turn.failed')
    assert.ok(error.message.includes(cwd), error.message)
    assert.ok(!/spawn|ENOENT/.test(error.message), error.message)
  })

  test('two clients that send at once each get their own answer', async () => {
    const sessionId = await rig.session()
    const names = ['one', 'two', 'three', 'four']
    const streams = await Promise.all(
      names.map((name) => codecast.send(rig.daemon.codecast, sessionId, `[[say ${name}]]`)),
    )
    const own = await rig.send(sessionId, '[[say native]]')
    const told = await Promise.all(streams.map((stream) => stream.rest()))
    assert.deepEqual(
      told.map((events) => codecast.textOf(events)),
      names,
    )
    assert.equal((await own.end('turn.completed')).text, 'native')
  })

  test('two sessions in one directory do not get into each other’s way', async () => {
    const cwd = rig.directory()
    const ids = [await rig.session({ cwd }), await rig.session({ cwd })]
    const turns = await Promise.all(ids.map((id) => rig.turn(id, '[[drip 20 20]]')))
    assert.deepEqual(
      turns.map(({ text }) => text),
      [words(20), words(20)],
    )
    const [one, two] = await Promise.all(ids.map((id) => rig.view(id)))
    assert.notEqual(one!.nativeId, two!.nativeId)
  })

  test('twenty sessions made, used and destroyed leave no file open and no process behind', async () => {
    const open = (): string[] => readdirSync(`/proc/${rig.daemon.pid}/fd`)
    const directories = Array.from({ length: 20 }, () => rig.directory())
    const one = async (cwd: string): Promise<void> => {
      const sessionId = await rig.session({ cwd })
      await rig.turn(sessionId, '[[words 3]]')
      await rig.client.call('session.destroy', { sessionId })
    }
    await one(rig.directory())
    const before = open().length
    for (let at = 0; at < directories.length; at += 4)
      await Promise.all(directories.slice(at, at + 4).map(one))
    await eventually(
      () => open().length,
      (count) => count <= before,
      `not more than ${before} files open`,
    )
    for (const cwd of directories) await nobodyIn(cwd)
  })
})

function commands(cwd: string): string[] {
  return processesIn(cwd).map(({ command }) => command)
}

/** A daemon whose claude is a program of ours; `script` is what it does when it is not asked for its version. */
async function withFake(t: TestContext, script: string): Promise<Rig> {
  const directory = mkdtempSync(join(tmpdir(), 'corral-fake-'))
  const program = join(directory, 'claude')
  writeFileSync(
    program,
    `#!/bin/sh\ncase "$1" in --version) echo "2.1.0 (Claude Code)"; exit;; esac\n${script}\n`,
  )
  chmodSync(program, 0o755)
  const rig = await startRig({ CORRAL_CLAUDE_BIN: program })
  t.after(async () => {
    await rig.close()
    rmSync(directory, { recursive: true, force: true })
  })
  return rig
}

/** What a claude says when it has the message, with the message's id. */
const ACCEPT = `read -r line
id=$(printf '%s' "$line" | sed 's/.*"uuid":"\\([^"]*\\)".*/\\1/')
printf '{"type":"command_lifecycle","command_uuid":"%s","state":"started"}\\n' "$id"`

const RESULT = `printf '{"type":"result","subtype":"success","is_error":false,"result":"fine","user_message_uuids":["%s"]}\\n' "$id"`

describe('a claude that is not what it should be', { skip: claudeAbsent }, () => {
  test('one that is not there is said so at once, and other agents work', async (t) => {
    const rig = await startRig({ CORRAL_CLAUDE_BIN: '/nonexistent/claude' })
    t.after(() => rig.close())
    await assert.rejects(rig.session(), (error: Error & { code: string }) => {
      assert.equal(error.code, 'agent_missing')
      assert.match(error.message, /CORRAL_CLAUDE_BIN names \/nonexistent\/claude/)
      return true
    })
    const refused = await codecast.failure(rig.daemon.codecast, 'session.create', { path: rig.directory() })
    assert.match(refused.message, /\/nonexistent\/claude/)
    const { code, stderr } = await rig.corral('new', '--agent', 'claude', '--cwd', rig.directory(), 'hello')
    assert.equal(code, 1)
    assert.match(stderr, /CORRAL_CLAUDE_BIN names \/nonexistent\/claude/)
    assert.match((await rig.corral('agents')).stdout, /no +claude .*\/nonexistent\/claude/)
    const demo = await rig.session({ agent: 'demo' })
    assert.equal((await rig.turn(demo, '[[say fine]]')).text, 'fine')
  })

  test('one that goes away between two turns fails the next turn with the reason', async (t) => {
    const rig = await withFake(t, `${ACCEPT}\n${RESULT}\nexit 0`)
    const sessionId = await rig.session()
    assert.equal((await rig.turn(sessionId, 'hello')).text, 'fine')
    rmSync(rig.daemon.env['CORRAL_CLAUDE_BIN']!)
    const { error } = await (await rig.send(sessionId, 'hello')).end('turn.failed')
    assert.match(error.message, /claude/)
  })

  test('one that ends at once fails the turn with its last words', async (t) => {
    const rig = await withFake(t, 'echo "loading" >&2; echo "the licence has run out" >&2; exit 7')
    const sessionId = await rig.session()
    const sent = await rig.send(sessionId, 'hello')
    const { error } = await sent.end('turn.failed')
    assert.equal(error.message, 'Claude Code exited with code 7 during the turn: the licence has run out')
    assert.deepEqual([error.detail?.['exitCode'], only(sent.seen, 'turn.retried').length], [7, 1])
    const stream = await codecast.send(rig.daemon.codecast, sessionId, 'hello')
    const told = await stream.rest()
    assert.match(String(told.at(-2)!['message']), /licence has run out/)
    const { code, stdout } = await rig.corral('send', sessionId, 'hello')
    assert.equal(code, 1)
    assert.match(stdout, /failed: .*licence has run out/)
  })

  test('garbage, broken UTF-8 and a line of 20 MiB are noted, and what is right around them counts', async (t) => {
    const noise = `printf 'hello\\n\\377\\376\\200 bad\\n{"type":\\n[]\\n42\\nnull\\n'
head -c 20971520 /dev/zero | tr '\\0' x; echo
printf '{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"\\377 odd"}]}}\\n'`
    const rig = await withFake(t, `${noise}\n${ACCEPT}\n${noise}\n${RESULT}\ncat > /dev/null`)
    const sessionId = await rig.session()
    const sent = await rig.send(sessionId, 'hello')
    assert.equal((await sent.end('turn.completed')).text, 'fine')
    const notices = only(sent.seen, 'agent.notice')
    assert.ok(notices.length > 0 && notices.length < 10, 'said, and not without end')
    for (const notice of notices) assert.ok(JSON.stringify(notice).length < 2000)
    const texts = only(sent.seen, 'message.completed').map(({ text }) => text)
    assert.deepEqual(texts.at(-1), '\uFFFD odd')
  })

  test('one that says nothing but garbage and ends fails the turn', async (t) => {
    const rig = await withFake(
      t,
      `printf 'Segmentation\\377 fault\\n'; head -c 20971520 /dev/urandom; exit 0`,
    )
    const sessionId = await rig.session()
    const { error } = await (await rig.send(sessionId, 'hello')).end('turn.failed')
    assert.equal(error.code, 'agent_exited')
    assert.equal((await rig.view(sessionId)).status, 'idle')
  })

  test('one that takes the message and ends without an answer fails the turn, once', async (t) => {
    const rig = await withFake(t, `${ACCEPT}\nexit 0`)
    const sessionId = await rig.session()
    const sent = await rig.send(sessionId, 'hello')
    const { error } = await sent.end('turn.failed')
    assert.match(error.message, /exited with code 0 during the turn/)
    assert.deepEqual(only(sent.seen, 'turn.retried'), [], 'a message that was taken is not sent again')
  })

  test('one that is deaf to everything is ended all the same', async (t) => {
    const rig = await withFake(t, `trap '' INT TERM HUP\n${ACCEPT}\nwhile :; do sleep 1; done`)
    const cwd = rig.directory()
    const sessionId = await rig.session({ cwd })
    const sent = await rig.send(sessionId, 'hello')
    await sent.until('turn.accepted')
    assert.equal((await rig.corral('rm', sessionId)).code, 0)
    await nobodyIn(cwd)
  })
})
