import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import * as codecast from '../dialects/codecast/client.ts'
import { claudeAbsent } from '../support/claude-env.ts'
import { nobodyIn, only, type Rig, startRig, words } from './rig.ts'

test('two claudes in one directory do not get into each other’s way', { skip: claudeAbsent }, async (t) => {
  const rig = await startRig()
  t.after(() => rig.close())
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
const ACCEPT = `while read -r line; do case "$line" in *'"type":"user"'*) break;; esac; done
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
