import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'

const RECORDINGS = join(import.meta.dirname, '../recordings/stores')

/** What real programs have written for the same two messages; directories are put in when it is used. */
export function recorded(agent: 'claude' | 'codex' | 'gemini', cwd: string): string[] {
  const text = readFileSync(join(RECORDINGS, `${agent}.jsonl`), 'utf8').replaceAll('/work/project', cwd)
  return text.trim().split('\n')
}

export const IDS = {
  claude: idIn('claude', 'sessionId'),
  codex: idIn('codex', 'session_id'),
  gemini: idIn('gemini', 'sessionId'),
  opencode: /'(ses_\w+)'/.exec(readFileSync(join(RECORDINGS, 'opencode.sql'), 'utf8'))![1]!,
}

function idIn(agent: string, field: string): string {
  const text = readFileSync(join(RECORDINGS, `${agent}.jsonl`), 'utf8')
  return new RegExp(`"${field}":"([^"]+)"`).exec(text)![1]!
}

/** The home of somebody who has used agents, without Corral. */
export interface Stores {
  home: string
  env: NodeJS.ProcessEnv
  /** The directory that they worked in. */
  work: string
  /** The file of a conversation; with the lines that a real program has written, if not given. */
  claude(options?: { id?: string; lines?: readonly string[]; at?: number }): string
  codex(options?: { id?: string; lines?: readonly string[]; at?: number }): string
  gemini(options?: { id?: string; lines?: readonly string[]; at?: number; project?: string }): string
  opencode(options?: { at?: number }): string
}

export function storesFor(t: Pick<TestContext, 'after'>): Stores {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'corral-stores-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  return storesIn(root)
}

export function storesIn(root: string): Stores {
  const home = join(root, 'user')
  const work = join(root, 'work')
  for (const path of [home, work]) mkdirSync(path, { recursive: true })
  const write = (path: string, lines: readonly string[], at?: number): string => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, lines.map((line) => `${line}\n`).join(''))
    if (at !== undefined) utimesSync(path, at / 1000, at / 1000)
    return path
  }
  const own = (agent: 'claude' | 'codex' | 'gemini', id: string): string[] =>
    recorded(agent, work).map((line) => line.replaceAll(IDS[agent], id))
  return {
    home,
    work,
    env: { HOME: home },
    claude({ id = IDS.claude, lines = own('claude', id), at } = {}) {
      return write(join(home, '.claude/projects/-work', `${id}.jsonl`), lines, at)
    },
    codex({ id = IDS.codex, lines = own('codex', id), at } = {}) {
      const name = `rollout-2026-11-18T11-44-38-${id}.jsonl`
      return write(join(home, '.codex/sessions/2026/11/18', name), lines, at)
    },
    gemini({ id = IDS.gemini, lines = own('gemini', id), at, project = 'work' } = {}) {
      const folder = join(home, '.gemini/tmp', project)
      write(join(folder, '.project_root'), [work])
      return write(join(folder, 'chats', `session-2026-11-18T11-44-${id.slice(0, 8)}.jsonl`), lines, at)
    },
    opencode({ at } = {}) {
      const path = join(home, '.local/share/opencode/opencode.db')
      mkdirSync(dirname(path), { recursive: true })
      const db = new DatabaseSync(path)
      db.exec(readFileSync(join(RECORDINGS, 'opencode.sql'), 'utf8').replaceAll('/work/project', work))
      if (at !== undefined) db.prepare('UPDATE session SET time_updated = ?').run(at)
      db.close()
      return path
    },
  }
}
