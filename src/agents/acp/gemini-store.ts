import { existsSync } from 'node:fs'
import { readdir, readFile, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { asObject, parsed } from '../json.ts'

/*
 * Gemini's record of a conversation is a file that is named after the minute it was begun in. Two faults of it lose
 * conversations. To load one writes the head of a new record first: in the same minute that is the same file, which is
 * then unreadable; in another one it is an empty record beside it. And every gemini that starts in a directory throws
 * away the records there that are empty, together with those whose names end alike. So before a load the record gets
 * the name of an earlier minute, and empty ones are removed before and after it.
 */

const NAME = /^session-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-/
const MINUTE_MS = 60_000
const SPEAKERS: unknown[] = ['user', 'gemini']

/** Makes the record of a conversation fit to be loaded at once. */
export async function prepareRecord(nativeId: string, env: NodeJS.ProcessEnv, now: number): Promise<void> {
  const { full, empty } = await recordsOf(nativeId, env)
  for (const path of empty) await rm(path, { force: true })
  for (const path of full) {
    const aged = agedName(path, now)
    if (aged !== null && !existsSync(aged)) await rename(path, aged)
  }
}

/** Removes the empty record that a load leaves beside the real one; the only one there is, is left alone. */
export async function dropEmptyRecords(nativeId: string, env: NodeJS.ProcessEnv): Promise<void> {
  const { full, empty } = await recordsOf(nativeId, env)
  if (full.length > 0) for (const path of empty) await rm(path, { force: true })
}

/** The files of this conversation: those with messages, and those with nothing but its id. */
async function recordsOf(
  nativeId: string,
  env: NodeJS.ProcessEnv,
): Promise<{ full: string[]; empty: string[] }> {
  const full: string[] = []
  const empty: string[] = []
  for (const path of await namedLike(nativeId, env)) {
    const lines = (await readFile(path, 'utf8')).split('\n')
    if (asObject(parsed(lines[0]!)).sessionId !== nativeId) continue
    const spoken = lines.some((line) => SPEAKERS.includes(asObject(parsed(line)).type))
    ;(spoken ? full : empty).push(path)
  }
  return { full, empty }
}

async function namedLike(nativeId: string, env: NodeJS.ProcessEnv): Promise<string[]> {
  const projects = join(env.GEMINI_CLI_HOME || env.HOME || homedir(), '.gemini', 'tmp')
  const ending = `-${nativeId.slice(0, 8)}.jsonl`
  const found: string[] = []
  for (const project of await readdir(projects).catch(() => [])) {
    const chats = join(projects, project, 'chats')
    for (const name of await readdir(chats).catch(() => [])) {
      if (NAME.test(name) && name.endsWith(ending)) found.push(join(chats, name))
    }
  }
  return found
}

/** The same file as of a minute before its own, if its own is not over or just over: a start takes its time. */
function agedName(path: string, now: number): string | null {
  const [, day, hour, minute] = NAME.exec(path.slice(dirname(path).length + 1))!
  const begun = Date.parse(`${day}T${hour}:${minute}:00Z`)
  if (begun + MINUTE_MS < now) return null
  const aged = new Date(begun - MINUTE_MS).toISOString().slice(0, 16).replace(':', '-')
  return path.replace(`session-${day}T${hour}-${minute}`, `session-${aged}`)
}

const DEFAULTS = 'GEMINI_CLI_SYSTEM_DEFAULTS_PATH'

/**
 * A default, weaker than any setting of the user's: a gemini of Corral's does not tidy up among the records of others,
 * some of which are only just being begun. Where somebody has laid down defaults for the machine, theirs stay.
 */
export function defaultSettings(env: NodeJS.ProcessEnv): Record<string, string> {
  const ofMachine = env[DEFAULTS] || join(dirname(systemSettings(env)), 'system-defaults.json')
  if (existsSync(ofMachine)) return {}
  return { [DEFAULTS]: JSON.stringify({ general: { sessionRetention: { enabled: false } } }) }
}

function systemSettings(env: NodeJS.ProcessEnv): string {
  if (env.GEMINI_CLI_SYSTEM_SETTINGS_PATH) return env.GEMINI_CLI_SYSTEM_SETTINGS_PATH
  if (process.platform === 'darwin') return '/Library/Application Support/GeminiCli/settings.json'
  return '/etc/gemini-cli/settings.json'
}
