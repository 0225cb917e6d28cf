import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'

const VERSION_TIMEOUT_MS = 10_000
const VERSION = /\d+\.\d+\.\d+(?:-[\w.]+)?/

/** The first program of this name on `env.PATH`; empty and relative entries are not looked at. */
export async function findProgram(name: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  const names = process.platform === 'win32' ? [`${name}.exe`, name] : [name]
  for (const directory of (env.PATH ?? '').split(delimiter)) {
    if (!isAbsolute(directory)) continue
    for (const file of names) {
      const path = join(directory, file)
      if (await isExecutable(path)) return path
    }
  }
  return null
}

export async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return (await stat(path)).isFile()
  } catch {
    return false
  }
}

/** What a program answers to `--version`: the version in it, or why there is none. */
export function versionOf(
  path: string,
  env: NodeJS.ProcessEnv,
): Promise<{ version: string; problem: null } | { version: null; problem: string }> {
  return new Promise((resolve) => {
    const options = { env, timeout: VERSION_TIMEOUT_MS, killSignal: 'SIGKILL', maxBuffer: 64 * 1024 } as const
    const child = execFile(path, ['--version'], options, (error, stdout, stderr) => {
      const version = VERSION.exec(stdout)?.[0]
      if (!error && version) return resolve({ version, problem: null })
      const said = stderr.trim().split('\n')[0]
      resolve({ version: null, problem: said || (error ? reason(error) : 'it names no version') })
    })
    // There is nothing to read: a program that reads its input to the end first would wait for ever.
    child.stdin?.end()
  })
}

function reason(error: Error & { killed?: boolean | undefined; code?: unknown }): string {
  if (error.killed) return `no answer to --version within ${VERSION_TIMEOUT_MS / 1000} s`
  return `--version ended with ${String(error.code ?? error.message)}`
}
