import { createHash } from 'node:crypto'
import { link, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Provider } from '../core/signin.ts'
import type { HandedOver } from './accounts.ts'
import type { Tokens } from './issuer.ts'

/** The file in which an agent keeps its account, and what is in it. */
export interface LoginFile {
  path: string
  text: string
}

/** Null: the agent could not use these tokens. */
export function loginFileOf(
  provider: Provider,
  tokens: Tokens,
  accountId: string | null,
  env: NodeJS.ProcessEnv,
): LoginFile | null {
  const home = env['HOME'] || homedir()
  if (tokens.refreshToken === null) return null
  if (provider === 'antigravity') {
    const path = join(env['GEMINI_CLI_HOME'] || home, '.gemini', 'oauth_creds.json')
    return { path, text: json(forGemini(tokens)) }
  }
  if (tokens.idToken === null) return null
  return {
    path: join(env['CODEX_HOME'] || join(home, '.codex'), 'auth.json'),
    text: json(forCodex(tokens, accountId)),
  }
}

function forCodex({ idToken, accessToken, refreshToken }: Tokens, accountId: string | null): object {
  return {
    auth_mode: 'chatgpt',
    OPENAI_API_KEY: null,
    tokens: {
      id_token: idToken,
      access_token: accessToken,
      refresh_token: refreshToken,
      account_id: accountId,
    },
    last_refresh: new Date().toISOString(),
  }
}

function forGemini({ accessToken, refreshToken, idToken, scope, expiresAt }: Tokens): object {
  return {
    access_token: accessToken,
    refresh_token: refreshToken,
    token_type: 'Bearer',
    ...(scope !== null && { scope }),
    ...(idToken !== null && { id_token: idToken }),
    ...(expiresAt !== null && { expiry_date: expiresAt }),
  }
}

/**
 * Writes it where there is none, or over one that is still as Corral wrote it. Whatever else is there is somebody's own, or
 * the agent has renewed it since: that stays. Null: nothing was written.
 */
export async function handOver(file: LoginFile, before: HandedOver | null): Promise<HandedOver | null> {
  const { path, text } = file
  const there = await digestOf(path)
  const ours = there !== null && before?.path === path && there === before.digest
  if (there !== null && !ours) return null
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}.corral`
  // Not into a file that is there already: others may be able to read it.
  await rm(draft, { force: true })
  await writeFile(draft, text, { mode: 0o600, flag: 'wx' })
  try {
    if (ours) await rename(draft, path)
    // Never in the place of one that has come meanwhile.
    else await link(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return null
    throw error
  } finally {
    await rm(draft, { force: true })
  }
  return { path, digest: digest(text) }
}

/** Removes it if it is still as Corral wrote it; else says which file is left. */
export async function takeBack({ path, digest: written }: HandedOver): Promise<string | null> {
  const there = await digestOf(path)
  if (there === null) return null
  if (there !== written) return path
  await rm(path, { force: true })
  return null
}

/** Null: there is no such file. One that cannot be read is somebody else's. */
async function digestOf(path: string): Promise<string | null> {
  try {
    return (await stat(path)).isFile() ? digest(await readFile(path)) : ''
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR' ? null : ''
  }
}

function digest(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
