import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { appendFileSync, mkdirSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { DRIVERS } from '../../src/agents/drivers.ts'
import { createStores } from '../../src/agents/stores.ts'
import type { StoreAnswer } from '../../src/core/adoption.ts'
import { IDS, recorded, storesFor, type Stores } from '../support/stores.ts'

const NONE = (): boolean => false
const AGENTS = ['claude', 'codex', 'gemini', 'opencode'] as const

function list(
  { env }: Stores,
  options: Partial<Parameters<ReturnType<typeof createStores>['list']>[0]> = {},
): Promise<StoreAnswer> {
  return createStores(DRIVERS, env).list({ limit: 50, skip: NONE, ...options })
}

const openings = async (stores: Stores, agent?: string): Promise<(string | null)[]> =>
  (await list(stores, agent === undefined ? {} : { agent })).conversations.map(({ opening }) => opening)

test('what real programs have written is found and read', async (t) => {
  const stores = storesFor(t)
  for (const agent of AGENTS) stores[agent]()
  const { conversations, places, truncated } = await list(stores)
  assert.deepEqual(
    new Set(conversations.map(({ agent, id, cwd, opening }) => [agent, id, cwd, opening])),
    new Set(AGENTS.map((agent) => [agent, IDS[agent], stores.work, 'my secret word is tangerine'])),
  )
  assert.deepEqual([places.length, truncated], [4, false])
  assert.equal(conversations.find(({ agent }) => agent === 'opencode')?.title, 'A scripted title')
  for (const agent of AGENTS) {
    const { messages, isCut } = await createStores(DRIVERS, stores.env).past(agent, IDS[agent])
    const said = messages.map(({ by, text }) => [by, text.split('\n')[0]])
    assert.deepEqual(said.slice(0, 3), [
      ['user', 'my secret word is tangerine'],
      ['agent', 'echo: my secret word is tangerine'],
      ['user', 'look around [[shell echo hi]]'],
    ])
    assert.equal(said.at(-1)![0], 'agent', agent)
    assert.ok(
      messages.every(({ at }) => at !== null && at > 1_700_000_000_000),
      agent,
    )
    assert.equal(isCut, false)
  }
})

test('nothing there is nothing found, and says where it was looked', async (t) => {
  const stores = storesFor(t)
  const { conversations, places } = await list(stores)
  assert.deepEqual(conversations, [])
  assert.deepEqual(
    places.map(({ agent, path }) => [agent, path.replace(stores.home, '~')]),
    [
      ['claude', '~/.claude/projects'],
      ['codex', '~/.codex/sessions'],
      ['gemini', '~/.gemini/tmp'],
      ['opencode', '~/.local/share/opencode/opencode.db'],
    ],
  )
})

test('the variables of each agent say where its store is', async (t) => {
  const { home } = storesFor(t)
  const env = {
    HOME: home,
    CLAUDE_CONFIG_DIR: '/a',
    CODEX_HOME: '/b',
    GEMINI_CLI_HOME: '/c',
    XDG_DATA_HOME: '/d',
  }
  const { places } = await createStores(DRIVERS, env).list({ limit: 1, skip: NONE })
  assert.deepEqual(
    places.map(({ path }) => path),
    ['/a/projects', '/b/sessions', '/c/.gemini/tmp', '/d/opencode/opencode.db'],
  )
})

test('broken lines, enormous lines and empty files hurt nothing', async (t) => {
  const stores = storesFor(t)
  const huge = JSON.stringify({ type: 'user', message: { content: 'x'.repeat(9 * 1024 ** 2) } })
  for (const agent of ['claude', 'codex', 'gemini'] as const) {
    const [first, ...rest] = recorded(agent, stores.work)
    stores[agent]({ lines: [first!, '{"type":', 'null', '[]', '"text"', '', '\0\0', ...rest, huge, '{"cut'] })
    stores[agent]({ id: randomUUID(), lines: [] })
    stores[agent]({ id: randomUUID(), lines: ['{}', 'nonsense'] })
    const { conversations } = await list(stores, { agent })
    assert.deepEqual(
      conversations.map(({ id, opening }) => [id, opening]),
      [[IDS[agent], 'my secret word is tangerine']],
    )
    const { messages } = await createStores(DRIVERS, stores.env).past(agent, IDS[agent])
    assert.equal(messages.filter(({ by }) => by === 'user').length, 2, agent)
  }
})

test('a file of gigabytes is read at its ends', async (t) => {
  const stores = storesFor(t)
  const path = stores.claude()
  truncateSync(path, 5 * 1024 ** 3)
  const last = {
    type: 'user',
    uuid: randomUUID(),
    parentUuid: 'lost',
    cwd: stores.work,
    message: { content: 'at the end' },
  }
  appendFileSync(path, `\n${JSON.stringify(last)}\n`)
  assert.deepEqual(await openings(stores, 'claude'), ['my secret word is tangerine'])
  const { messages, isCut } = await createStores(DRIVERS, stores.env).past('claude', IDS.claude)
  assert.deepEqual([messages.map(({ text }) => text), isCut], [['at the end'], true])
})

test('a title that means to command the terminal is made harmless', async (t) => {
  const stores = storesFor(t)
  const evil = '\u001b]0;owned\u0007\u001b[2J\u202eevil\r\nsecond line'
  const user = { type: 'user', uuid: 'a', parentUuid: null, cwd: stores.work, message: { content: evil } }
  const title = { type: 'custom-title', customTitle: `\u001b[31m${'t'.repeat(5000)}` }
  stores.claude({ lines: [user, title].map((line) => JSON.stringify(line)) })
  const [found] = (await list(stores)).conversations
  assert.equal(found?.opening, '⟨U+202E⟩evil')
  assert.match(found!.title!, /^t{100,200}…$/)
})

test('thousands of conversations: the newest, and no more than wanted', async (t) => {
  const stores = storesFor(t)
  const now = Date.now()
  const ids = Array.from({ length: 3000 }, () => randomUUID())
  const said = (text: string): string[] => [
    JSON.stringify({
      type: 'user',
      uuid: 'a',
      parentUuid: null,
      cwd: stores.work,
      message: { content: text },
    }),
  ]
  ids.forEach((id, index) => stores.claude({ id, lines: said(`number ${index}`), at: now - index * 1000 }))
  const newest = await list(stores, { limit: 3 })
  assert.deepEqual(
    newest.conversations.map(({ opening }) => opening),
    ['number 0', 'number 1', 'number 2'],
  )
  assert.equal(newest.truncated, true)
  const known = new Set<string>(ids.slice(0, 2000))
  const others = await list(stores, { limit: 1, skip: (_, id) => known.has(id) })
  assert.deepEqual([others.conversations[0]?.opening, others.skipped], ['number 2000', 2000])
})

test('links, pipes and folders in the place of files are passed over', async (t) => {
  const stores = storesFor(t)
  const path = stores.claude()
  const folder = join(path, '..')
  symlinkSync('/dev/zero', join(folder, `${randomUUID()}.jsonl`))
  symlinkSync(path, join(folder, `${randomUUID()}.jsonl`))
  mkdirSync(join(folder, `${randomUUID()}.jsonl`))
  symlinkSync(stores.home, join(stores.home, '.claude/projects/-loop'))
  assert.equal((await list(stores)).conversations.length, 1)
})

test('only those of a directory, whatever way leads there', async (t) => {
  const stores = storesFor(t)
  for (const agent of AGENTS) stores[agent]()
  const link = join(stores.home, 'link')
  symlinkSync(stores.work, link)
  const other = { type: 'user', uuid: 'a', parentUuid: null, cwd: link, message: { content: 'by a link' } }
  stores.claude({ id: randomUUID(), lines: [JSON.stringify(other)] })
  assert.equal((await list(stores, { cwd: stores.work })).conversations.length, 5)
  assert.equal((await list(stores, { cwd: stores.home })).conversations.length, 0)
})

test('what an agent runs for itself is no conversation of its user', async (t) => {
  const stores = storesFor(t)
  const sidechain = { type: 'user', isSidechain: true, cwd: stores.work, message: { content: 'sub' } }
  stores.claude({ lines: [JSON.stringify(sidechain)] })
  const [meta, ...rest] = recorded('codex', stores.work)
  stores.codex({ lines: [meta!.replace('"source":"exec"', '"source":{"subagent":"review"}'), ...rest] })
  const [head, ...chat] = recorded('gemini', stores.work)
  stores.gemini({ lines: [head!.replace('"kind":"main"', '"kind":"subagent"'), ...chat] })
  const db = new DatabaseSync(stores.opencode())
  db.exec("UPDATE session SET parent_id = 'ses_other'")
  db.close()
  assert.deepEqual((await list(stores)).conversations, [])
})

test('what was taken back in Claude is not in its past, and a command is what was typed', async (t) => {
  const stores = storesFor(t)
  const record = (
    uuid: string,
    parentUuid: string | null,
    type: 'user' | 'assistant',
    text: string,
  ): string =>
    JSON.stringify({
      type,
      uuid,
      parentUuid,
      cwd: stores.work,
      timestamp: '2026-11-18T11:44:36.485Z',
      message: { role: type, content: [{ type: 'text', text }] },
    })
  const command =
    '<command-message>x</command-message><command-name>/review</command-name><command-args>all</command-args>'
  stores.claude({
    lines: [
      record('1', null, 'user', `<system-reminder>secret</system-reminder>${command}`),
      record('2', '1', 'assistant', 'reviewed'),
      record('3', '2', 'user', 'a wrong turn'),
      record('4', '3', 'assistant', 'wrong'),
      record('5', '2', 'user', 'the right turn'),
      record('6', '5', 'assistant', 'right'),
      record('7', '6', 'user', '[Request interrupted by user]'),
    ],
  })
  const { messages } = await createStores(DRIVERS, stores.env).past('claude', IDS.claude)
  assert.deepEqual(
    messages.map(({ text }) => text),
    ['/review all', 'reviewed', 'the right turn', 'right'],
  )
})

test('a record of Claude’s that cannot be read does not hide what was before it', async (t) => {
  const stores = storesFor(t)
  const lines = recorded('claude', stores.work)
  const answer = lines.findIndex((line) => line.includes('"role":"assistant"'))
  stores.claude({ lines: lines.with(answer, `{"broken": ${lines[answer]!.slice(0, 50)}`) })
  const { messages } = await createStores(DRIVERS, stores.env).past('claude', IDS.claude)
  assert.deepEqual(
    messages.filter(({ by }) => by === 'user').map(({ text }) => text),
    ['my secret word is tangerine', 'look around [[shell echo hi]]'],
  )
})

test('Codex: events of older versions, none at all, and turns that were taken back', async (t) => {
  const stores = storesFor(t)
  const [meta] = recorded('codex', stores.work)
  const event = (payload: object): string => JSON.stringify({ type: 'event_msg', payload })
  const item = (role: string, text: string): string =>
    JSON.stringify({ type: 'response_item', payload: { type: 'message', role, content: [{ text }] } })
  const past = async (): Promise<string[]> =>
    (await createStores(DRIVERS, stores.env).past('codex', IDS.codex)).messages.map(({ text }) => text)
  stores.codex({
    lines: [
      meta!,
      event({ type: 'user_message', message: 'one' }),
      event({ type: 'agent_message', message: 'answer one' }),
      event({ type: 'user_message', message: 'two' }),
      event({ type: 'agent_message', message: 'answer two' }),
      event({ type: 'thread_rolled_back', num_turns: 1 }),
    ],
  })
  assert.deepEqual(await past(), ['one', 'answer one'])
  stores.codex({
    lines: [
      meta!,
      item('user', '<environment_context>x</environment_context>'),
      item('user', '# AGENTS.md instructions for /x'),
      item('developer', 'no'),
      item('user', 'three'),
      item('assistant', 'answer three'),
    ],
  })
  assert.deepEqual(await past(), ['three', 'answer three'])
  assert.deepEqual(await openings(stores, 'codex'), ['three'])
})

test('Gemini: an empty record beside the real one, messages that are set anew or taken back', async (t) => {
  const stores = storesFor(t)
  const lines = recorded('gemini', stores.work)
  stores.gemini({ at: Date.now() - 60_000 })
  stores.gemini({ lines: lines.slice(0, 1), project: 'twin' })
  assert.deepEqual(await openings(stores, 'gemini'), ['my secret word is tangerine'])
  const ids = lines.map((line) => JSON.parse(line) as { id?: string; type?: string })
  const second = ids.findLast(({ type }) => type === 'user')!.id
  stores.gemini({ lines: [...lines, JSON.stringify({ $rewindTo: second })] })
  const { messages } = await createStores(DRIVERS, stores.env).past('gemini', IDS.gemini)
  assert.deepEqual(
    messages.map(({ text }) => text),
    ['my secret word is tangerine', 'echo: my secret word is tangerine'],
  )
})

test('a store that cannot be read is named, and the others are listed', async (t) => {
  const stores = storesFor(t)
  stores.claude()
  const path = stores.opencode()
  writeFileSync(path, 'this is no database, but it is long enough to look at '.repeat(100))
  const { conversations, places } = await list(stores)
  assert.deepEqual(
    conversations.map(({ agent }) => agent),
    ['claude'],
  )
  assert.match(places.find(({ agent }) => agent === 'opencode')!.problem!, /not a database/)
})

test('OpenCode’s database is read while it is written, and no file of it is touched', async (t) => {
  const stores = storesFor(t)
  const path = stores.opencode()
  const db = new DatabaseSync(path)
  t.after(() => db.close())
  db.exec("PRAGMA journal_mode = WAL; UPDATE session SET title = 'written just now'")
  const times = (): number[] => ['', '-wal', '-shm'].map((end) => statSync(path + end).mtimeMs)
  const before = times()
  assert.deepEqual(
    (await list(stores, { agent: 'opencode' })).conversations.map(({ title }) => title),
    ['written just now'],
  )
  assert.deepEqual(times(), before)
})

test('an id that is none finds nothing, and goes to no other file', async (t) => {
  const stores = storesFor(t)
  for (const agent of AGENTS) stores[agent]()
  const all = createStores(DRIVERS, stores.env)
  for (const agent of AGENTS) {
    for (const id of ['', '.*', '../../x', randomUUID(), "' OR 1=1 --"])
      assert.equal(await all.find(agent, id), null)
    assert.equal((await all.find(agent, IDS[agent]))?.id, IDS[agent])
  }
  assert.equal(await all.find('demo', IDS.claude), null)
})

test('what agents have open is looked at once, however many conversations there are', async (t) => {
  const stores = storesFor(t)
  const [projects, sessions] = ['projects/-work', 'sessions'].map((name) =>
    join(stores.home, '.claude', name),
  )
  for (const directory of [projects!, sessions!]) mkdirSync(directory, { recursive: true })
  for (let at = 0; at < 40; at++) {
    const record = {
      type: 'user',
      uuid: 'a',
      cwd: stores.work,
      message: { role: 'user', content: `no ${at}` },
    }
    writeFileSync(join(projects!, `${randomUUID()}.jsonl`), `${JSON.stringify(record)}\n`)
  }
  const read = t.mock.method(promises, 'readdir')
  syncBuiltinESMExports()
  t.after(() => {
    read.mock.restore()
    syncBuiltinESMExports()
  })
  assert.equal((await list(stores, { agent: 'claude' })).conversations.length, 40)
  const looks = read.mock.calls.filter(({ arguments: [path] }) => path === sessions)
  assert.equal(looks.length, 1)
})
