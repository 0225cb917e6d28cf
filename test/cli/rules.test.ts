import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { until } from '../support/wait.ts'
import { corral, newSession, type Outcome } from './support.ts'

let daemon: TestDaemon

before(async () => {
  daemon = await startDaemon()
})

after(() => daemon.stop())

async function ok(...args: string[]): Promise<Outcome> {
  const outcome = await corral(daemon.env, args, { cwd: daemon.project })
  assert.equal(outcome.code, 0, outcome.stderr)
  return outcome
}

test('rules of a session are shown, added, removed', async () => {
  const id = await newSession(daemon, '--mode', 'ask')
  assert.match((await ok('rule', 'ls', '--session', id)).stdout, /no rules; the mode of the session decides/)
  await ok('rule', 'add', '--session', id, 'Bash(git *)')
  await ok('rule', 'add', '--session', id, '--deny', 'Write')
  const changed = await ok('rule', 'set', '--session', id, '--accept-edits', '--skip', '5')
  assert.match(
    changed.stdout,
    /deny +Write\nallow +Bash\(git \*\)\nallow +edits of files\nallow +everything for/,
  )
  await ok('rule', 'rm', '--session', id, 'Write')
  const [rules] = (
    await ok('rule', 'set', '--session', id, '--no-accept-edits', '--skip', '0', '--json')
  ).json()
  assert.deepEqual(rules, { allow: ['Bash(git *)'], deny: [], acceptEdits: false, skipUntil: null })
})

test('rules of a directory hold for the sessions in it', async () => {
  await ok('rule', 'add', '--directory', '.', 'Shell(echo *)')
  const id = await newSession(daemon, '--mode', 'ask')
  assert.match((await ok('send', id, '[[shell echo hi]]')).stdout, /hi/)
  assert.match(
    (await ok('rule', 'ls', '--directory', daemon.project)).stdout,
    /and below\nallow +Shell\(echo \*\)/,
  )
})

test('a directory that is reached through a link has one list of rules', async () => {
  const link = join(daemon.home, 'link')
  mkdirSync(join(daemon.home, 'linked'))
  symlinkSync('linked', link)
  await ok('rule', 'add', '--directory', link, '--deny', 'shell(git push*)')
  await ok('rule', 'add', '--directory', link, '--deny', 'shell(rm *)')
  const [rules] = (await ok('rule', 'ls', '--directory', link, '--json')).json<{ deny: string[] }>()
  assert.deepEqual(rules!.deny, ['shell(git push*)', 'shell(rm *)'])
  await ok('rule', 'rm', '--project', link, 'shell(git push*)')
})

test('rules that cannot work are warned of, and ~ is the home directory', async () => {
  const fine = await ok('rule', 'add', '--deny', '--directory', '.', 'shell(git push*)', 'edit(~/.ssh/*)')
  assert.match(fine.stdout, /deny +edit\(\/.*\/\.ssh\/\*\)/)
  assert.equal(fine.stderr, '')
  const odd = await ok('rules', '--project', '.', '--deny', 'Bsh(ls)', '--allow', 'shell(a * | b)')
  assert.match(odd.stderr, /Bsh\(ls\): fits only a tool that is called exactly Bsh/)
  assert.match(odd.stderr, /shell\(a \* \| b\): never fits/)
  const { stdout } = await ok('rule', 'ls', '--project', '.', '--json')
  assert.deepEqual(
    (JSON.parse(stdout) as { deny: string[] }).deny.length,
    3,
    'warnings are no part of the result',
  )
})

test('rules about what an agent that is installed does not ask about are warned of, when they are made and shown', async (t) => {
  const program = join(mkdtempSync(join(tmpdir(), 'corral-claude-')), 'claude')
  t.after(() => rmSync(dirname(program), { recursive: true }))
  writeFileSync(program, '#!/bin/sh\necho 2.1.0\n', { mode: 0o755 })
  const own = await startDaemon({ env: { CORRAL_CLAUDE_BIN: program } })
  t.after(() => own.stop())
  const warned = async (...args: string[]) => {
    const { code, stderr } = await corral(own.env, args, { cwd: own.project })
    assert.equal(code, 0, stderr)
    return stderr
  }
  const unasked =
    /Read\(x\*\): Claude Code does not ask about files in the session’s directory: these are not/
  assert.match(await warned('rules', '--project', '.', '--deny', 'Read(x*)'), unasked)
  assert.match(await warned('rule', 'ls', '--directory', '.'), unasked)
  assert.match(await warned('rule', 'add', '--directory', '.', '--deny', '*'), /\*: Claude Code does not ask/)
})

test('what is not clear is refused with a hint', async () => {
  const wrong: [string[], RegExp][] = [
    [['rule', 'add', 'edit'], /give either --session ID or --directory DIRECTORY/],
    [['rule', 'set', '--project', '.'], /nothing to change/],
    [['rule', 'ls', '--session', 'x', '--project', '.'], /give either --session/],
    [['rule', 'rm', '--project', '.', 'Nothing'], /there is no rule Nothing/],
    [['rule', 'set', '--project', '.', '--skip', 'soon'], /--skip must be a whole number/],
  ]
  for (const [args, message] of wrong) {
    const { code, stderr } = await corral(daemon.env, args, { cwd: daemon.project })
    assert.notEqual(code, 0)
    assert.match(stderr, message)
  }
})

test('a session that was put away is left out of the list', async () => {
  const id = await newSession(daemon)
  await ok('session', 'set', id, '--archive')
  assert.ok(!(await ok('ls', '-q')).stdout.includes(id))
  assert.ok((await ok('ls', '-q', '--archived')).stdout.includes(id))
  await ok('session', 'set', id, '--no-archive')
  assert.ok((await ok('ls', '-q')).stdout.includes(id))
})

test('what is allowed for a project is not asked again in another session of it', async () => {
  const first = await newSession(daemon, '--mode', 'ask')
  await ok('rule', 'rm', '--directory', '.', 'Shell(echo *)')
  await ok('send', first, '--no-wait', '[[shell echo once]]')
  const asked = await approvalOf(first)
  await ok('approve', asked, '--project')
  const second = await newSession(daemon, '--mode', 'ask')
  assert.match((await ok('send', second, '[[shell echo once]]')).stdout, /once/)
})

function approvalOf(sessionId: string): Promise<string> {
  return until(async () => {
    const found = (await ok('approval', 'ls', '--json')).json<{ id: string; sessionId: string }>()
    return found.find((approval) => approval.sessionId === sessionId)?.id
  }, 'something is asked')
}
