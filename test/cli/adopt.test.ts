import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { cells } from '../../src/cli/width.ts'
import { connect } from '../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { IDS, storesFor, type Stores } from '../support/stores.ts'
import { corral, type Outcome } from './support.ts'

interface Place extends Stores {
  daemon: TestDaemon
  adopt(...args: string[]): Promise<Outcome>
}

/** A daemon of somebody who has used agents before; all of them are installed, as far as can be seen without running them. */
async function placeFor(t: TestContext): Promise<Place> {
  const stores = storesFor(t)
  const program = join(stores.home, 'agent')
  writeFileSync(program, '#!/bin/sh\necho 9.9.9\n')
  chmodSync(program, 0o755)
  const names = ['CLAUDE', 'CODEX', 'GEMINI', 'OPENCODE'].map((name) => [`CORRAL_${name}_BIN`, program])
  const daemon = await startDaemon({ env: { ...stores.env, ...Object.fromEntries(names) } })
  t.after(() => daemon.stop())
  return { ...stores, daemon, adopt: (...args) => corral(daemon.env, ['adopt', ...args]) }
}

function said(cwd: string, text: string, at = '2026-11-18T11:44:36.485Z'): string[] {
  const of = (type: string, uuid: string, parentUuid: string | null, content: string): string =>
    JSON.stringify({ type, uuid, parentUuid, cwd, timestamp: at, message: { role: type, content } })
  return [of('user', 'a', null, text), of('assistant', 'b', 'a', `about ${text}`)]
}

describe('corral adopt', () => {
  test('says where it looked when there is nothing', async (t) => {
    const { adopt, home, work } = await placeFor(t)
    const { code, stdout, stderr } = await adopt()
    assert.deepEqual([code, stdout], [0, ''])
    assert.match(stderr, /no conversation waits to be adopted; Corral looked in:/)
    for (const place of [
      '.claude/projects',
      '.codex/sessions',
      '.gemini/tmp',
      '.local/share/opencode/opencode.db',
    ]) {
      assert.ok(stderr.includes(`~/${place}`) || stderr.includes(join(home, place)), stderr)
    }
    assert.match((await adopt('--cwd', work)).stderr, new RegExp(`no conversation of ${work} waits`))
    assert.match(
      (await adopt('--agent', 'nobody')).stderr,
      /No agent called nobody; this Corral knows: claude/,
    )
    assert.equal(
      (await adopt('--agent', 'demo')).stderr,
      'demo keeps no conversations that Corral can read\n',
    )
    assert.equal((await adopt('1f0c9a3e')).code, 1)
    assert.equal((await adopt('')).code, 2)
  })

  test('lists in a table that fits 80 columns, the last used first, and as JSON', async (t) => {
    const place = await placeFor(t)
    const deep = join(place.work, 'a-directory-with-a-long-name', '深い場所'.repeat(10))
    mkdirSync(deep, { recursive: true })
    const now = Date.now()
    place.claude({ lines: said(deep, `${'長い'.repeat(100)} end`), at: now - 3 * 86_400_000 })
    place.codex({ at: now - 60_000 })
    place.gemini({ at: now - 7_200_000 })
    place.opencode({ at: now })
    const { stdout, stderr } = await place.adopt('--limit', '3')
    const lines = stdout.trimEnd().split('\n')
    assert.deepEqual(
      lines.map((line) => line.split(/\s+/)[0]),
      ['AGENT', 'opencode', 'codex', 'gemini'],
    )
    assert.match(lines[2]!, new RegExp(`^codex +${IDS.codex.slice(-8)}  1 min ago .*my secret word`))
    assert.match(stderr, /there are more; --limit 6 shows them/)
    const all = (await place.adopt()).stdout.trimEnd().split('\n')
    assert.equal(all.length, 5)
    for (const line of all) assert.ok(cells(line) <= 80, line)
    const json = (await place.adopt('--json', '--agent', 'claude')).json()
    assert.deepEqual(
      json.map(({ agent, id, cwd, holder, sessionId, known }) => [agent, id, cwd, holder, sessionId, known]),
      [['claude', IDS.claude, deep, null, null, false]],
    )
    const here = await place.adopt('--json', '--cwd', place.work)
    assert.deepEqual(
      here.json().map(({ agent }) => agent),
      ['opencode', 'codex', 'gemini'],
    )
  })

  test('makes a session of one, with what was said and when', async (t) => {
    const { adopt, daemon, work, ...stores } = await placeFor(t)
    stores.claude()
    const { code, stdout, stderr } = await adopt(IDS.claude.slice(-6), '--title', 'From the terminal')
    assert.equal(code, 0, stderr)
    assert.match(stderr, /claude, mode ask, in .*work; 2 earlier turns\ngo on with: corral attach/)
    const sessionId = stdout.trim()
    const client = await connect(daemon.socket)
    t.after(() => client.close())
    const session = await client.call('session.get', { sessionId })
    assert.deepEqual(
      [session.nativeId, session.cwd, session.name, session.status, session.attention, session.turnCount],
      [IDS.claude, work, 'From the terminal', 'idle', 'quiet', 2],
    )
    const items = (await corral(daemon.env, ['history', sessionId, '--json'])).json<{
      kind: string
      at: number
    }>()
    assert.deepEqual(
      items.map(({ kind }) => kind).filter((kind) => kind !== 'assistant'),
      ['user', 'end', 'user', 'end'],
    )
    assert.ok(items.every(({ at }) => Math.abs(at - Date.parse('2026-11-18T12:07:00Z')) < 60_000))
    assert.match((await corral(daemon.env, ['search', 'tangerine'])).stdout, /tangerine/)
    // Nobody was told anything, and nobody has used anything.
    assert.deepEqual((await client.call('daemon.status')).agents.running, 0)
    assert.deepEqual((await client.call('usage.series', { by: 'turn' })).points, [])
    assert.equal((await client.call('turn.list', { sessionId })).turns[0]?.state, 'completed')
    await daemon.terminate()
    await daemon.restart()
    assert.match((await corral(daemon.env, ['history', sessionId])).stdout, /my secret word is tangerine/)
  })

  test('names the session of one that is in Corral already', async (t) => {
    const place = await placeFor(t)
    place.claude()
    place.codex()
    const sessionId = (await place.adopt(IDS.codex)).stdout.trim()
    const listed = await place.adopt()
    assert.match(listed.stdout, /^claude /m)
    assert.doesNotMatch(listed.stdout, /^codex /m)
    assert.match(listed.stderr, /one more is in Corral already; --all shows it/)
    assert.match(
      (await place.adopt('--all')).stdout,
      new RegExp(`^codex .*\\(session ${sessionId.slice(-8)}`, 'm'),
    )
    const again = await place.adopt(IDS.codex)
    assert.equal(again.code, 1)
    assert.match(again.stderr, new RegExp(`it is session ${sessionId.slice(-8)}; go on with: corral attach`))
    await corral(place.daemon.env, ['rm', sessionId])
    assert.doesNotMatch((await place.adopt()).stdout, /^codex /m)
    assert.match((await place.adopt('--all')).stdout, /^codex .*\(removed/m)
    assert.equal((await place.adopt(IDS.codex)).code, 0)
  })

  test('asks for more of an id that fits several', async (t) => {
    const place = await placeFor(t)
    for (const end of ['1', '2'])
      place.claude({ id: randomUUID().slice(0, -4) + `abc${end}`, lines: said(place.work, `talk ${end}`) })
    const several = await place.adopt('talk')
    assert.equal(several.code, 1)
    assert.match(several.stderr, /talk fits 2 conversations; give more of the id:[^]*abc1[^]*talk 1/)
    assert.equal((await place.adopt('talk 2')).code, 0)
  })

  test('refuses one whose directory is gone', async (t) => {
    const place = await placeFor(t)
    const gone = join(place.work, 'gone')
    mkdirSync(gone)
    place.claude({ lines: said(gone, 'hello') })
    rmSync(gone, { recursive: true })
    const { code, stderr } = await place.adopt(IDS.claude)
    assert.equal(code, 1)
    assert.match(stderr, /Its directory .*gone is not there any more; make it again/)
  })

  test('takes over the end of a long one, and says so', async (t) => {
    const place = await placeFor(t)
    const lines = Array.from({ length: 250 }, (_, n) => [
      JSON.stringify({
        type: 'user',
        uuid: `u${n}`,
        parentUuid: n ? `a${n - 1}` : null,
        cwd: place.work,
        message: { content: `message ${n}` },
      }),
      JSON.stringify({
        type: 'assistant',
        uuid: `a${n}`,
        parentUuid: `u${n}`,
        message: { role: 'assistant', content: 'yes' },
      }),
    ]).flat()
    place.claude({ lines })
    const { stdout, stderr } = await place.adopt(IDS.claude)
    assert.match(stderr, /200 earlier turns \(claude itself knows what was before them\)/)
    const past = (await corral(place.daemon.env, ['history', stdout.trim(), '--limit', '2000'])).stdout
    assert.match(past, /message 50\n[^]*message 249/)
    assert.doesNotMatch(past, /message 49\n/)
    assert.match(past, /the last 200 turns of this conversation/)
    assert.match((await corral(place.daemon.env, ['ls'])).stdout, /message 0$/m)
  })

  test('shows nothing that commands a terminal', async (t) => {
    const place = await placeFor(t)
    place.claude({ lines: said(place.work, '\u001b]0;owned\u0007\u001b[2Jhello \u202eolleh') })
    const { stdout } = await place.adopt()
    assert.match(stdout, /hello ⟨U\+202E⟩olleh/)
    // oxlint-disable-next-line no-control-regex
    assert.doesNotMatch(stdout, /[\u0000-\u0008\u000b-\u001f\u202e]/)
  })
})

describe(
  'a conversation that is open elsewhere',
  { skip: process.platform !== 'linux' && 'only seen on Linux' },
  () => {
    /** Something that looks like the agent's own program. */
    async function running(
      t: TestContext,
      { home, work }: Stores,
      name: string,
      ...args: string[]
    ): Promise<number> {
      const program = join(home, `${name}.js`)
      writeFileSync(program, "process.stdout.write('up'); setInterval(() => {}, 1000)")
      const child = spawn(process.execPath, [program, ...args], {
        cwd: work,
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      t.after(() => child.kill('SIGKILL'))
      await once(child.stdout, 'data')
      return child.pid!
    }

    test('is refused when the program names it', async (t) => {
      const place = await placeFor(t)
      const long = Date.now() - 3_600_000
      place.gemini({ at: long })
      const pid = await running(t, place, 'gemini', '--resume', IDS.gemini)
      assert.match((await place.adopt()).stdout, /^gemini .*\(open elsewhere\)/m)
      const { code, stderr } = await place.adopt(IDS.gemini, '--force')
      assert.equal(code, 1)
      assert.match(stderr, new RegExp(`gemini has this conversation open \\(pid ${pid}\\); end it there`))
    })

    test('may be: then it takes a word to adopt it', async (t) => {
      const place = await placeFor(t)
      place.gemini({ at: Date.now() - 3_600_000 })
      const pid = await running(t, place, 'gemini')
      assert.match((await place.adopt()).stdout, /^gemini .*\(maybe open\)/m)
      const refused = await place.adopt(IDS.gemini)
      assert.equal(refused.code, 1)
      assert.match(
        refused.stderr,
        new RegExp(`\\(pid ${pid}\\) and may have this conversation open; end it first, or use --force`),
      )
      const client = await connect(place.daemon.socket)
      t.after(() => client.close())
      await assert.rejects(client.call('session.adopt', { agent: 'gemini', id: IDS.gemini }), {
        data: { code: 'conversation_busy', reason: 'maybe_open_elsewhere', pid },
      })
      assert.equal((await place.adopt(IDS.gemini, '--force')).code, 0)
    })

    test('has been used since the program began', async (t) => {
      const place = await placeFor(t)
      await running(t, place, 'opencode')
      place.opencode()
      const touched = {
        type: 'user',
        uuid: 'a',
        parentUuid: null,
        cwd: place.work,
        message: { content: 'fresh' },
      }
      place.claude({ lines: [JSON.stringify(touched)], at: Date.now() - 60_000 })
      await running(t, place, 'claude', '--resume', randomUUID())
      const listed = (await place.adopt('--json')).json<{
        agent: string
        holder: { certain: boolean } | null
      }>()
      // OpenCode writes its own time down, which was before; Claude has another one open, and says which.
      assert.deepEqual(Object.fromEntries(listed.map(({ agent, holder }) => [agent, holder?.certain])), {
        opencode: false,
        claude: undefined,
      })
    })

    test('Codex: whoever holds its lock has it open', async (t) => {
      const place = await placeFor(t)
      place.codex()
      assert.doesNotMatch((await place.adopt()).stdout, /open/)
      const lock = join(place.home, '.codex/thread-writer-locks', `${IDS.codex}.lock`)
      mkdirSync(join(lock, '..'), { recursive: true })
      writeFileSync(lock, '')
      const program = join(place.home, 'codex.js')
      writeFileSync(
        program,
        "require('fs').openSync(process.argv[2]); process.stdout.write('up'); setInterval(() => {}, 1000)",
      )
      const child = spawn(process.execPath, [program, lock, '--managed-daemon'], {
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      t.after(() => child.kill('SIGKILL'))
      await once(child.stdout, 'data')
      assert.match(
        (await place.adopt(IDS.codex)).stderr,
        new RegExp(
          `codex keeps this conversation open .*\\(pid ${child.pid}\\); .codex app-server daemon stop. ends that`,
        ),
      )
    })

    test('Claude: what it has written down about a process that is gone means nothing', async (t) => {
      const place = await placeFor(t)
      place.claude()
      const sessions = join(place.home, '.claude/sessions')
      mkdirSync(sessions)
      const note = (pid: number, procStart: string): void =>
        writeFileSync(
          join(sessions, `${pid}.json`),
          JSON.stringify({ pid, sessionId: IDS.claude, procStart }),
        )
      note(process.pid, '1')
      writeFileSync(join(sessions, '12.json'), 'nonsense')
      assert.doesNotMatch((await place.adopt()).stdout, /open/)
      const { startTime } = await import('../../src/agents/host/process.ts')
      note(process.pid, startTime(process.pid)!)
      assert.match(
        (await place.adopt(IDS.claude)).stderr,
        new RegExp(`has this conversation open \\(pid ${process.pid}\\)`),
      )
    })
  },
)
