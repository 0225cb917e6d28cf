import { spawn, type ChildProcess } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { delimiter, isAbsolute } from 'node:path'
import { asCorralError, CorralError } from '../core/error.ts'

const TIMEOUT_MS = 30_000
const MAX_BYTES = 64 * 1024 * 1024
const MAX_STDERR = 16 * 1024
const AT_ONCE = 8

export interface GitRequest {
  readonly cwd: string
  readonly args: readonly string[]
  readonly input?: string | Buffer
  readonly env?: Readonly<Record<string, string>>
  readonly config?: readonly (readonly [key: string, value: string])[]
  readonly timeoutMs?: number
  readonly maxBytes?: number
  /** More output than `maxBytes` is cut instead of being an error. */
  readonly truncate?: boolean
  /** Exit codes that are answers; 0 unless told. */
  readonly answers?: readonly number[]
}

export interface GitOutput {
  readonly code: number
  readonly stdout: Buffer
  readonly truncated: boolean
}

export interface Git {
  run(request: GitRequest): Promise<GitOutput>
  /** Throws `unsupported` when the installed git is older than this. */
  require(major: number, minor: number): Promise<void>
  /** Ends every git that runs; later runs are refused. */
  close(): void
}

/**
 * A repository is data that somebody else may have written. None of its settings may start a program, ask a
 * question or change what we parse: these hold for every run, and `untrusted.ts` adds what one repository needs.
 */
const SETTINGS: readonly (readonly [string, string])[] = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.quotePath', 'false'],
  ['core.optionalLocks', 'false'],
  ['commit.gpgSign', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['submodule.recurse', 'false'],
  ['diff.ignoreSubmodules', 'dirty'],
  ['diff.autoRefreshIndex', 'true'],
  ['diff.suppressBlankEmpty', 'false'],
  ['safe.bareRepository', 'explicit'],
]

const KEPT =
  'HOME USER LOGNAME USERPROFILE SystemRoot XDG_CONFIG_HOME TMPDIR TEMP TMP ' +
  'GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_NOSYSTEM'

/** What git sees of our environment; no protocol is allowed, so that nothing is ever fetched behind our back. */
export function gitEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  const kept = KEPT.split(' ').flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))
  return {
    ...Object.fromEntries(kept),
    PATH: (env.PATH ?? '').split(delimiter).filter(isAbsolute).join(delimiter),
    LC_ALL: 'C',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: 'false',
    GIT_EDITOR: ':',
    GIT_SEQUENCE_EDITOR: ':',
    GIT_PAGER: 'cat',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_LAZY_FETCH: '1',
  }
}

/** In the environment and not as `-c`: a name in the key may contain a `=`. */
function settingsAsEnvironment(settings: readonly (readonly [string, string])[]): Record<string, string> {
  const pairs = settings.flatMap(([key, value], n) => [
    [`GIT_CONFIG_KEY_${n}`, key],
    [`GIT_CONFIG_VALUE_${n}`, value],
  ])
  return { ...Object.fromEntries(pairs), GIT_CONFIG_COUNT: String(settings.length) }
}

export function createGit(env: NodeJS.ProcessEnv = process.env): Git {
  const base = gitEnvironment(env)
  const running = new Set<ChildProcess>()
  const waiting: (() => void)[] = []
  let busy = 0
  let closed = false
  let version: Promise<[number, number]> | null = null

  async function turn(): Promise<void> {
    if (busy < AT_ONCE) busy++
    else await new Promise<void>((resolve) => waiting.push(resolve))
  }

  function done(): void {
    const next = waiting.shift()
    if (next) next()
    else busy--
  }

  async function start(request: GitRequest): Promise<GitOutput> {
    await turn()
    try {
      if (closed) throw new CorralError('stopping', 'The daemon is stopping')
      return await spawnGit(request, base, running)
    } catch (thrown) {
      throw thrown instanceof CorralError ? thrown : await whyNotStarted(request.cwd, thrown)
    } finally {
      done()
    }
  }

  function knownVersion(): Promise<[number, number]> {
    version ??= start({ cwd: '/', args: ['version'] }).then(({ stdout }) => {
      const [, major, minor] = /(\d+)\.(\d+)/.exec(stdout.toString()) ?? []
      return [Number(major), Number(minor)]
    })
    version.catch(() => (version = null))
    return version
  }

  async function require(major: number, minor: number): Promise<void> {
    const [haveMajor, haveMinor] = await knownVersion()
    if (haveMajor > major || (haveMajor === major && haveMinor >= minor)) return
    const text = `This needs git ${major}.${minor} or newer; here is ${haveMajor}.${haveMinor}`
    throw new CorralError('unsupported', text, { needs: `${major}.${minor}` })
  }

  return {
    async run(request) {
      // Older ones do not know GIT_CONFIG_COUNT, and would run unguarded.
      await require(2, 31)
      return start(request)
    },
    require,
    close() {
      closed = true
      for (const child of running) killGroup(child)
    },
  }
}

function spawnGit(
  request: GitRequest,
  base: Record<string, string>,
  running: Set<ChildProcess>,
): Promise<GitOutput> {
  const { cwd, args, input, timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES, truncate = false } = request
  const env = { ...base, ...settingsAsEnvironment([...SETTINGS, ...(request.config ?? [])]), ...request.env }
  return new Promise((resolve, reject) => {
    const child = spawn('git', ['--no-pager', ...args], { cwd, env, detached: true })
    const chunks: Buffer[] = []
    let size = 0
    let stderr = ''
    let stopped: 'slow' | 'long' | null = null
    running.add(child)
    const stop = (why: 'slow' | 'long'): void => {
      stopped ??= why
      killGroup(child)
    }
    const timer = setTimeout(() => stop('slow'), timeoutMs)
    child.stdout.on('data', (chunk: Buffer) => {
      const room = maxBytes - size
      if (room > 0) chunks.push(chunk.subarray(0, room))
      size += chunk.length
      if (size > maxBytes) stop('long')
    })
    child.stderr.on('data', (chunk: Buffer) => {
      if (stderr.length < MAX_STDERR) stderr += chunk.toString()
    })
    // A git that ends before it has read all of its input is judged by its exit code.
    child.stdin.on('error', () => {})
    child.stdin.end(input ?? '')
    const finish = (): void => {
      clearTimeout(timer)
      running.delete(child)
    }
    child.on('error', (cause) => {
      finish()
      reject(cause)
    })
    child.on('close', (code) => {
      finish()
      const stdout = Buffer.concat(chunks)
      if (stopped === 'long' && truncate) return resolve({ code: 0, stdout, truncated: true })
      if (!stopped && code !== null && (request.answers ?? [0]).includes(code))
        return resolve({ code, stdout, truncated: false })
      reject(failure(args, code, stopped, stderr.trim()))
    })
  })
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    child.kill('SIGKILL')
  }
}

/** A directory that is not there looks like a program that is not there. */
async function whyNotStarted(cwd: string, thrown: unknown): Promise<CorralError> {
  const isThere = await stat(cwd).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (!isThere) return new CorralError('repo_not_found', `Not a directory: ${cwd}`, { path: cwd })
  return new CorralError('git_failed', `git cannot be started: ${asCorralError(thrown).message}`, {}, thrown)
}

function failure(
  args: readonly string[],
  code: number | null,
  stopped: 'slow' | 'long' | null,
  stderr: string,
): CorralError {
  const command = args[0] ?? ''
  if (stopped === 'slow')
    return new CorralError('git_failed', `git ${command} took too long`, { command, isSlow: true })
  if (stopped === 'long')
    return new CorralError('git_failed', `git ${command} has too much to say`, { command })
  const said = stderr || `it ended with ${code ?? 'a signal'}`
  return new CorralError('git_failed', `git ${command}: ${said}`, { command, exitCode: code })
}
