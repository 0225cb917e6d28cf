import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunFile } from './run-file.ts'

/** Something that Corral has made, or that speaks of it. */
export interface Remain {
  path: string
  what: string
  bytes: number
  /** Null: it can be removed. Otherwise why it is left alone. */
  kept: string | null
  /** A folder that goes only while nothing is in it. */
  folder?: true
}

/** Every name that Corral gives to something in its data directory. Whatever has another name is not ours. */
const PARTS: readonly (readonly [RegExp, what: string])[] = [
  [/^corral\.db(-wal|-shm)?$/, 'the log: sessions and all that was said'],
  [/^corral\.db\.corrupt-[\w-]+$/, 'a damaged log that was set aside'],
  [/^replaced-[\w-]+$/, 'data that a restored backup has replaced'],
  [/^config\.yaml$/, 'your settings'],
  [/^(token|signin\.json|signed-out\.json|tls-(cert|key)\.pem)$/, 'tokens, keys and accounts'],
  [/^(corral\.log(\.\d+)?|corral\.out|resources\.jsonl)$/, 'logs'],
  [/^(last-session|typed\.jsonl)$/, 'what you typed, and the session that `-` means'],
  [/^(demo|relay|tours)$/, 'data of the demo agent and of the relay'],
  [/^(runs|checkpoints|cache|updates|\.restore-\w+)$/, 'work files'],
  [/^(run\.json|alive|(lock|starting)(-journal)?|corral\.sock)$/, 'work files'],
]

/** What is in the data directory, by name; what is not ours is not in the list. */
export function remainsIn(home: string): Remain[] {
  return namesIn(home).flatMap((name): Remain[] => {
    const path = join(home, name)
    if (name === 'worktrees') {
      const isEmpty = filesBelow(path) === 0
      return [
        {
          path,
          what: 'git worktrees',
          bytes: bytesOf(path),
          kept: isEmpty ? null : 'work of yours may be in them: corral worktree ls',
        },
      ]
    }
    const what = PARTS.find(([pattern]) => pattern.test(name))?.[1]
    return what === undefined ? [] : [{ path, what, bytes: bytesOf(path), kept: null }]
  })
}

/** Files at the places of other clients that a daemon has left there: it removes them itself unless it was killed. */
export function remainsElsewhere(home: string, homedir: string): Remain[] {
  const listeners = listenersIn(join(home, 'run.json'))
  const port = URL.parse(listeners['codecast'] ?? '')?.port
  const portFile = join(homedir, '.codecast/daemon.port')
  const socket = listeners['humanlayer']
  const found: Remain[] = []
  if (port && textOf(portFile)?.trim() === port)
    found.push({ path: portFile, what: "Codecast's port file", bytes: bytesOf(portFile), kept: null })
  if (socket?.startsWith('/') && isSocket(socket))
    found.push({ path: socket, what: "HumanLayer's socket", bytes: 0, kept: null })
  const gone = found.map(({ path }) => path)
  return [...found, ...emptied(homedir, gone)]
}

/** The folders of other clients that have nothing in them but what goes. */
function emptied(homedir: string, gone: readonly string[]): Remain[] {
  const folders = ['.codecast', '.humanlayer'].map((name) => join(homedir, name))
  const empty = folders.filter(
    (path) => isFolder(path) && namesIn(path).every((name) => gone.includes(join(path, name))),
  )
  return empty.map((path) => ({ path, what: 'an empty folder', bytes: 0, kept: null, folder: true }))
}

const SHELL_FILES = ['.bashrc', '.bash_profile', '.zshrc', '.config/fish/config.fish'] as const

/** Lines that somebody has written for the completion, and a token that others use too. */
export function remainsOfOthers(homedir: string, clawdeToken: string): Remain[] {
  const shells = SHELL_FILES.map((name) => join(homedir, name)).filter((path) =>
    textOf(path)?.includes('corral completion'),
  )
  const lines = shells.map((path) => ({
    path,
    what: 'a line for the completion',
    bytes: 0,
    kept: 'the file is yours: remove the line',
  }))
  if (textOf(clawdeToken) === null) return lines
  return [
    ...lines,
    { path: clawdeToken, what: "ClawDE's token", bytes: bytesOf(clawdeToken), kept: 'ClawDE uses it too' },
  ]
}

function listenersIn(path: string): Record<string, string> {
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as RunFile).listeners
  } catch {
    return {}
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).toSorted()
  } catch {
    return []
  }
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

function isSocket(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSocket() ?? false
}

/** Links count as themselves: what they lead to is not ours. */
function bytesOf(path: string): number {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found?.isDirectory()) return found?.size ?? 0
  return namesIn(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0)
}

function filesBelow(path: string): number {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found?.isDirectory()) return found ? 1 : 0
  return namesIn(path).reduce((sum, name) => sum + filesBelow(join(path, name)), 0)
}
