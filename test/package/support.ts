import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { exitOf } from '../support/wait.ts'

export const ROOT = join(import.meta.dirname, '../..')

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

/** A program to its end. */
export async function run(
  command: string,
  args: string[],
  options: { env: NodeJS.ProcessEnv; cwd?: string },
): Promise<Ended> {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (data: Buffer) => (stdout += data.toString()))
  child.stderr.on('data', (data: Buffer) => (stderr += data.toString()))
  const code = await exitOf(child, () => `${command} ${args.join(' ')} ends; it says:\n${stdout}\n${stderr}`)
  return { code, stdout, stderr }
}

export async function succeed(...given: Parameters<typeof run>): Promise<string> {
  const { code, stdout, stderr } = await run(...given)
  assert.equal(code, 0, `${given[0]} ${given[1].join(' ')}\n${stdout}\n${stderr}`)
  return stdout
}

/** A user who has nothing yet. */
export interface NewUser {
  home: string
  /** The Node that runs this test, the system's programs, ports of chance, and nothing else. */
  env: NodeJS.ProcessEnv
  remove(): void
}

export function newUser(): NewUser {
  const home = mkdtempSync(join(tmpdir(), 'corral-user-'))
  mkdirSync(join(home, 'tmp'))
  const ports = ['', '_CODECAST', '_CLAWDE', '_RELAY'].map((name) => [`CORRAL${name}_PORT`, '0'])
  const env = {
    PATH: [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
    LANG: 'C.UTF-8',
    HOME: home,
    TMPDIR: join(home, 'tmp'),
    ...Object.fromEntries(ports),
  }
  return { home, env, remove: () => rmSync(home, { recursive: true, force: true }) }
}

export interface Packed {
  path: string
  /** In bytes: as it is fetched, and as it is on the disk. */
  size: number
  unpackedSize: number
  files: string[]
}

/** What `npm publish` would send. `npm run test:package` has built it. */
export async function pack({ env }: NewUser, directory: string): Promise<Packed> {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', directory]
  const [found] = JSON.parse(await succeed('npm', args, { env, cwd: ROOT })) as [
    { filename: string; size: number; unpackedSize: number; files: { path: string }[] },
  ]
  const { filename, size, unpackedSize, files } = found
  return { path: join(directory, filename), size, unpackedSize, files: files.map(({ path }) => path) }
}
