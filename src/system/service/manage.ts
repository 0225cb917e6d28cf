import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { MARK, type Service, type ServiceState, type Step } from './service.ts'

export interface FoundService {
  /** Null: its file is not there. `outdated`: this program would write another one. */
  file: 'current' | 'outdated' | null
  /** Null: the manager does not answer. */
  state: ServiceState | null
  /** What the manager says when it does not. */
  problem: string | null
}

/**
 * Writes the file and starts the service. When the manager refuses, nothing is left behind that was not there before. `makeRoom` is
 * called right before the last step, the one that starts it: whatever refuses before that has disturbed nobody.
 */
export async function installService(
  service: Service,
  env: NodeJS.ProcessEnv,
  makeRoom: () => Promise<void> = async () => {},
): Promise<void> {
  const before = readOwn(service)
  const made = mkdirSync(dirname(service.path), { recursive: true })
  writeFileSync(service.path, service.text, { mode: 0o644 })
  try {
    for (const step of service.install.slice(0, -1)) await run(step, env)
    await makeRoom()
    await run(service.install.at(-1)!, env)
  } catch (error) {
    if (before === null) rmSync(service.path, { force: true })
    else writeFileSync(service.path, before)
    if (made !== undefined) removeEmpty(dirname(service.path), made)
    throw error
  }
}

/** From a folder up to the one above it that was made first, as long as nobody has put anything there. */
function removeEmpty(folder: string, first: string): void {
  try {
    rmdirSync(folder)
  } catch {
    return
  }
  if (folder !== first) removeEmpty(dirname(folder), first)
}

/** Stops the service and removes its file; false: there is none. */
export async function uninstallService(service: Service, env: NodeJS.ProcessEnv): Promise<boolean> {
  if (readOwn(service) === null) return false
  // What was never loaded cannot be unloaded; the file goes all the same.
  let refusal: unknown = null
  for (const step of service.uninstall) await run(step, env).catch((error: unknown) => (refusal ??= error))
  const { state } = refusal === null ? { state: null } : await lookAtService(service, env)
  if (state?.isRunning) throw refusal
  rmSync(service.path)
  return true
}

export async function restartService(service: Service, env: NodeJS.ProcessEnv): Promise<void> {
  await run(service.restart, env)
}

export async function lookAtService(service: Service, env: NodeJS.ProcessEnv): Promise<FoundService> {
  const text = readText(service.path)
  const file = text === null ? null : text === service.text ? 'current' : 'outdated'
  try {
    return { file, state: service.readState(await run(service.look, env)), problem: null }
  } catch (error) {
    return { file, state: null, problem: (error as Error).message }
  }
}

/** The file as it is; throws when somebody else has written it. */
function readOwn({ path }: Service): string | null {
  const text = readText(path)
  if (text !== null && !text.includes(MARK))
    throw new Error(`${path} was not written by Corral and is left alone`)
  return text
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

function run([program, ...args]: Step, env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { env, timeout: 60_000 }, (error, stdout, stderr) => {
      if (!error) return resolve(stdout)
      const isMissing = error.code === 'ENOENT'
      const why = isMissing ? 'there is no such program here' : stderr.trim() || error.message
      reject(new Error(`${[program, ...args].join(' ')}: ${why}`, { cause: error }))
    })
  })
}
