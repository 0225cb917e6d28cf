import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EventOf } from '../../src/core/event.ts'
import type { NativeClient } from '../../src/client/client.ts'
import { bookFor, MESSAGES, RETRY_OLD, STORE_OLD } from './scene-book.ts'
import { until } from './wait.ts'
import { says, thinks, uses, writeHome, type TurnEnd, type Writer } from './written.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

type Name = keyof typeof MESSAGES

/** A home with a working day in it: sessions of several agents in every state. */
export interface Scene {
  home: string
  /** For the daemon that is to run there. */
  env: NodeJS.ProcessEnv
  /** Has the agents do what they do now; the ids of their sessions. */
  begin(client: NativeClient): Promise<Record<Name, string>>
}

export async function makeScene(): Promise<Scene> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'corral-scene-')))
  const harbour = makeRepository(join(home, 'work/harbour'))
  const lighthouse = makeRepository(join(home, 'work/lighthouse'))
  await writeHome(home, (writer) => writeDay(writer, harbour, lighthouse), Date.now() - 5 * HOUR)
  const book = join(home, 'book.json')
  writeFileSync(book, JSON.stringify(bookFor(harbour)))
  const env = { CORRAL_CLAUDE_BIN: playerIn(home, book), NO_COLOR: '1' }
  return { home, env, begin: (client) => begin(client, harbour) }
}

/** A program by the name of Claude. */
function playerIn(home: string, book: string): string {
  const program = join(home, 'claude')
  const player = join(import.meta.dirname, 'player.ts')
  writeFileSync(program, `#!/bin/sh\nPLAYER_BOOK='${book}' exec '${process.execPath}' '${player}' "$@"\n`)
  chmodSync(program, 0o755)
  return program
}

function makeRepository(path: string): string {
  mkdirSync(join(path, 'src'), { recursive: true })
  writeFileSync(join(path, 'README.md'), '# Harbour\n\nWhere ships come in.\n')
  writeFileSync(join(path, 'src/deliver.ts'), RETRY_OLD)
  writeFileSync(join(path, 'src/store.ts'), STORE_OLD)
  for (const args of [
    ['init', '-q', '-b', 'main'],
    ['add', '-A'],
    ['commit', '-qm', 'Begin'],
  ])
    git(path, ...args)
  return path
}

/** As nobody in particular: nothing of this machine's user is read. */
export function git(cwd: string, ...args: string[]): string {
  const who = {
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@example.com',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@example.com',
  }
  const env = { PATH: process.env['PATH'], HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1', ...who }
  return execFileSync('git', args, { cwd, env, encoding: 'utf8' })
}

interface Past {
  about: Partial<EventOf<'session.created'>>
  asked: string
  said: string
  end?: TurnEnd
}

/** What has happened since the morning. */
async function writeDay(writer: Writer, harbour: string, lighthouse: string): Promise<void> {
  const past: Past[] = [
    {
      about: { agent: 'gemini', cwd: lighthouse, title: 'Upgrade to Node 24', model: 'gemini-3-pro' },
      asked: 'Upgrade to Node 24, and say what breaks.',
      said: 'Two packages have no release for it yet.',
      end: {
        ms: 7 * MINUTE,
        error: { code: 'model_error', message: 'The model answered with status 529: overloaded' },
      },
    },
    {
      about: {
        agent: 'codex',
        cwd: harbour,
        title: 'Dark mode for the settings page',
        model: 'gpt-5.2-codex',
      },
      asked: 'The settings page ignores the dark theme.',
      said: 'It follows the system now. I replaced eleven fixed colours by the variables of the theme, and added a picture test for both.',
      end: { ms: 4 * MINUTE, usage: { costUsd: 0.18, inputTokens: 61_000, outputTokens: 4200 } },
    },
    {
      about: { agent: 'opencode', cwd: lighthouse, title: 'Translate the help texts', model: 'glm-5' },
      asked: 'Translate the help texts into German.',
      said: 'All 84 texts are translated. Three of them name buttons that do not exist any more; I marked them.',
      end: { ms: 12 * MINUTE, usage: { costUsd: 0.06, inputTokens: 90_000, outputTokens: 21_000 } },
    },
    {
      about: { agent: 'claude', cwd: harbour, title: 'Why is the build slow?', model: 'claude-opus-4-5' },
      asked: 'Why does the build take four minutes?',
      said: 'The types are checked three times. One configuration for all packages brings it down to 90 seconds.',
      end: { ms: 3 * MINUTE, usage: { costUsd: 0.33, inputTokens: 40_000, outputTokens: 3000 } },
    },
  ]
  for (const { about, asked, said, end } of past) {
    const id = await writer.session({ mode: 'code', ...about })
    const command = {
      tool: 'Bash',
      input: { command: 'npm test' },
      output: 'ok 1 - all of it\n# pass 214\n# fail 0',
    }
    await writer.turn(id, asked, [thinks('First the tests, as they are.'), ...uses(command), says(said)], end)
    writer.wait(20 * MINUTE)
  }
}

async function begin(client: NativeClient, cwd: string): Promise<Record<Name, string>> {
  const ids: Partial<Record<Name, string>> = {}
  for (const [name, content] of Object.entries(MESSAGES) as [Name, string][]) {
    const mode = name === 'retry' ? 'code' : 'ask'
    const { id: sessionId } = await client.call('session.create', {
      agent: 'claude',
      cwd,
      mode,
      title: TITLES[name],
    })
    await client.call('session.send', { sessionId, content })
    ids[name] = sessionId
  }
  await until(
    async () => (await client.call('approval.list')).approvals.length === 3,
    'three decisions are open',
  )
  await sortOut(client)
  return ids as Record<Name, string>
}

const TITLES: Record<Name, string> = {
  retry: 'Retry webhooks with backoff',
  store: 'Keep sessions in Redis',
  audit: 'An audit log',
  index: 'Search gets slow with many documents',
  review: 'Review the payment module',
}

/** What a person has done about the day so far. */
async function sortOut(client: NativeClient): Promise<void> {
  const { sessions } = await client.call('session.list', { limit: 50 })
  const idOf = (title: string): string => sessions.find((session) => session.title === title)!.id
  await client.call('session.mark', {
    sessionId: idOf('Why is the build slow?'),
    settled: true,
    readSeq: Number.MAX_SAFE_INTEGER,
  })
  await client.call('session.mark', {
    sessionId: idOf('Translate the help texts'),
    snoozedUntil: Date.now() + 20 * HOUR,
  })
  await client.call('session.mark', { sessionId: idOf(TITLES.retry), pinned: true })
  const sessionId = idOf(TITLES.index)
  await client.call('session.send', { sessionId, content: 'Then do the same for the tags.' })
  await client.call('draft.set', {
    sessionId: idOf(TITLES.retry),
    text: 'And log each attempt with the status it got',
  })
}
