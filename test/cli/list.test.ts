import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sessionTable, stateOf } from '../../src/cli/session-list.ts'
import type { Cli } from '../../src/cli/cli.ts'
import type { SessionView } from '../../src/dialects/native/wire.ts'
import { cells } from '../../src/cli/width.ts'
import { until } from '../support/wait.ts'
import { corral, daemonFor, newSession } from './support.ts'

test('the state comes first, failed ones are named so, and states are filters', async (t) => {
  const daemon = await daemonFor(t)
  const ls = async (...args: string[]): Promise<string> => (await corral(daemon.env, ['ls', ...args])).stdout
  const titles = async (...args: string[]): Promise<string[]> =>
    (await ls('--titles', ...args)).split('\n').flatMap((line) => line.split('\t')[1] ?? [])
  const make = async (title: string, mode: string, message: string): Promise<string> => {
    const id = await newSession(daemon, '--title', title, '--mode', mode)
    await corral(daemon.env, ['send', '--no-wait', id, message])
    return id
  }
  await make('Asks', 'ask', '[[shell ls]]')
  const failed = await make('Broke', 'auto', '[[fail 529]]')
  await make('Works', 'auto', '[[hang]]')
  await make('Ended', 'auto', '[[say hi]]')
  await newSession(daemon, '--title', 'Fresh')
  await until(async () => (await titles('--state', 'done')).length === 1, 'one is done')
  await until(async () => (await titles('--needs-you')).length === 1, 'one asks')
  await until(async () => (await titles('--failed')).length === 1, 'one has failed')
  const list = await ls()
  assert.match(list, /^STATE +ID +AGENT +MODE +ACTIVE +TITLE\n/)
  for (const [state, title] of Object.entries({
    'needs you': 'Asks',
    failed: 'Broke',
    working: 'Works',
    done: 'Ended',
    idle: 'Fresh',
  })) {
    assert.match(list, new RegExp(`^${state} +[0-9a-f]{8} .*${title}$`, 'm'))
    assert.deepEqual(await titles('--state', state.replace(' ', '-')), [title])
  }
  assert.deepEqual((await titles('--working', '--failed')).toSorted(), ['Broke', 'Works'])
  assert.deepEqual(await titles('--state', 'working', '--state', 'idle', '--limit', '1'), ['Fresh'])
  await corral(daemon.env, ['done', failed])
  assert.deepEqual(await titles('--failed'), ['Broke'], 'also when it was looked at')
  assert.match((await corral(daemon.env, ['ls', '--state', 'paused'])).stderr, /no session is paused/)
  assert.equal((await corral(daemon.env, ['ls', '--state', 'odd'])).code, 2)
})

test('the table is no wider than the terminal', () => {
  const session = {
    id: '0199f3a4-77aa-7bbb-8ccc-01235acbbca2',
    agent: 'claude',
    mode: 'code',
    name: '日本語 title '.repeat(20),
    cwd: '/',
    status: 'running',
    attention: 'working',
    activeAt: Date.now() - 2.5 * 3_600_000, // "2 h ago", however slow this is
    queued: 3,
    openApprovals: 0,
    turn: {},
    lastOutcome: 'failed',
  } as unknown as SessionView
  const at = (columns: number): string[] => {
    const cli = { paint: (_: unknown, text: string) => text, stdout: { isTTY: true, columns } }
    return sessionTable(cli as unknown as Cli, [session]).split('\n')
  }
  const [head, line] = at(80)
  assert.match(head!, /^STATE +ID +AGENT +MODE +ACTIVE +TITLE$/)
  assert.match(line!, /^working \+3 +5acbbca2 +claude +code .*…$/)
  for (const columns of [80, 64, 50, 40, 32])
    for (const one of at(columns)) assert.ok(cells(one) <= columns, `${columns}: ${one}`)
  assert.match(at(64)[0]!, /^STATE +ID +AGENT +ACTIVE +TITLE$/)
  assert.match(at(40).join('\n'), /^STATE +ID +TITLE\nworking \+3 +5acbbca2 +日本語/)
  assert.equal(stateOf({ ...session, attention: 'needs_you', openApprovals: 0, turn: null }), 'failed')
})
