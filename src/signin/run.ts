import { spawn } from 'node:child_process'

/** A locked keychain may ask somebody who is not there. */
export const PATIENCE_MS = 15_000
const MAX_OUTPUT = 1024 ** 2

interface Ran {
  /** Null: it was ended. */
  code: number | null
  stdout: string
  stderr: string
}

/** Runs a program without a shell; what is secret goes through stdin. Rejects when it cannot be started. */
export function run(
  command: string,
  args: string[],
  options: { input: string; env: NodeJS.ProcessEnv; patienceMs: number },
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env: options.env, stdio: 'pipe' })
    const output = { stdout: '', stderr: '' }
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      // What it has started itself may hold its pipes open for as long as it likes.
      for (const pipe of child.stdio) pipe?.destroy()
      resolve({ code: null, ...output })
    }, options.patienceMs)
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        if (output[name].length < MAX_OUTPUT) output[name] += text
      })
    }
    child.once('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer)
      const why = error.code === 'ENOENT' ? 'is not installed' : `does not start (${error.code})`
      reject(new Error(`${command} ${why}`))
    })
    child.once('close', (code) => {
      clearTimeout(timer)
      resolve({ code, ...output })
    })
    child.stdin.on('error', () => {}) // it ended without reading: its status says why
    child.stdin.end(options.input)
  })
}
