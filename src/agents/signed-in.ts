import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { isObject, type JsonObject } from './json.ts'

/*
 * Whether somebody has signed in is told from what is there, without running the agent: the programs' own answers take up
 * to two seconds, write into the user's home and ask the network. What is in a credential is never passed on.
 */

export interface SignedIn {
  /** Null: it cannot be told from here. */
  signedIn: boolean | null
  /** How a human signs in; null when that is done. */
  hint: string | null
}

export const SIGNED_IN: SignedIn = { signedIn: true, hint: null }

/** One yes is enough; where nobody says yes, one "cannot be told" is. */
export function judged(hint: string, ...signs: (boolean | null)[]): SignedIn {
  if (signs.includes(true)) return SIGNED_IN
  return { signedIn: signs.includes(null) ? null : false, hint }
}

export function homeIn(env: NodeJS.ProcessEnv): string {
  return env.HOME || homedir()
}

/** Whether one of these variables has a value. */
export function isSet(env: NodeJS.ProcessEnv, ...names: string[]): boolean {
  return names.some((name) => isText(env[name]))
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}

/** A file's text; `''` when there is none, null when it cannot be read. */
export async function textIn(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR' ? '' : null
  }
}

/** A file's JSON object; `{}` when there is none, null when it cannot be read or is none. */
export async function objectIn(path: string): Promise<JsonObject | null> {
  const text = await textIn(path)
  if (text === null || text === '') return text === null ? null : {}
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}
