import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { endAll } from '../real/rig.ts'
import { claudeAbsent, claudeEnv } from '../support/claude-env.ts'
import { startDaemon } from '../support/daemon.ts'
import { startScriptedModel } from '../support/model/server.ts'

const PACKAGES = new URL('packages/', import.meta.url).pathname
export const AGENTS = new URL('../real/cli/', import.meta.url).pathname
const NODE_MODULES = join(PACKAGES, 'node_modules')
const RUN_MS = 120_000

export type RelayAgent = 'demo' | 'claude'

/** A real daemon's relay, and the programs that are pointed at it. */
export interface ProgramRig {
  readonly url: string
  /** An empty directory that the program works in, and its home. */
  readonly work: string
  readonly home: string
  /** Runs a script of `packages/` and reads the one line that it prints: what came of each of its scenarios. */
  script(name: string, scenarios?: readonly string[]): Promise<Record<string, Result>>
  /** Runs a program from start to end, with this environment and nothing else. */
  run(command: readonly string[], env?: Record<string, string>): Promise<Outcome>
  /** A directive that has the agent call a tool of the program's. */
  calling(tool: string, input: object): string
  /** Ends everything, and fails if a program has left something running. */
  close(): Promise<void>
}

export interface Result {
  value?: unknown
  error?: string
  status?: number | null
}

export interface Outcome {
  code: number
  stdout: string
  stderr: string
}

/** Why tests with a package cannot run here, or false. Where everything has to be there, they run and fail instead. */
export function absent(name: string): string | false {
  if (existsSync(join(NODE_MODULES, name, 'package.json')) || process.env['CI']) return false
  return `${name} is not installed: npm run programs:install`
}

/** A program's name and the version that is pinned, here or among the agents. */
export function versionOf(name: string, directory = PACKAGES): string {
  const { dependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(directory, 'package.json'), 'utf8'),
  ) as Record<'dependencies' | 'optionalDependencies', Record<string, string> | undefined>
  return `${name} ${{ ...dependencies, ...optionalDependencies }[name]!}`
}

/** A program of npm's, started by the Node that runs the tests. */
export function bin(name: string): readonly string[] {
  return [process.execPath, realpathOr(join(NODE_MODULES, '.bin', name))]
}

function realpathOr(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}

export const agentAbsent = (agent: RelayAgent): string | false => (agent === 'claude' ? claudeAbsent : false)

export async function startPrograms(agent: RelayAgent = 'demo'): Promise<ProgramRig> {
  const model = await startScriptedModel()
  const daemon = await startDaemon({ env: { ...claudeEnv(model.url), CORRAL_RELAY_AGENT: agent } })
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'corral-program-')))
  const [home, tmp, work] = ['home', 'tmp', 'work'].map((one) => join(root, one)) as [string, string, string]
  for (const path of [home, tmp, work]) mkdirSync(path)
  const prefix = agent === 'claude' ? 'mcp__client__' : ''
  /** A home of its own, no terminal, nobody at the keyboard, no telemetry, and no address but loopback's. */
  const base = {
    HOME: home,
    TMPDIR: tmp,
    PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    LANG: 'C.UTF-8',
    NO_COLOR: '1',
    DO_NOT_TRACK: '1',
    http_proxy: 'http://127.0.0.1:9',
    https_proxy: 'http://127.0.0.1:9',
    no_proxy: '127.0.0.1,localhost',
  }

  function run([file, ...args]: readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    const options = { cwd: work, env: { ...base, ...env }, timeout: RUN_MS, killSignal: 'SIGKILL' as const }
    const child = execFile(file!, args, options, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) || -1 : 0, stdout, stderr })
    })
    child.stdin?.end()
    return promise
  }

  return {
    url: daemon.listeners['relay']!,
    work,
    home,
    run,
    async script(name, scenarios = []) {
      const env = { RELAY_URL: daemon.listeners['relay']!, CALL_PREFIX: prefix }
      const { stdout, stderr } = await run([process.execPath, join(PACKAGES, name), ...scenarios], env)
      try {
        return JSON.parse(stdout.trim().split('\n').at(-1)!) as Record<string, Result>
      } catch {
        throw new Error(`${name} said:\n${stdout}\n${stderr}`)
      }
    },
    calling: (tool, input) =>
      `[[call ${prefix}${tool} ${Buffer.from(JSON.stringify(input)).toString('base64')}]]`,
    async close() {
      await daemon.stop()
      await model.close()
      const left = endAll(root)
      rmSync(root, { recursive: true, force: true, maxRetries: 5 })
      if (left.length > 0) throw new Error(`left running: ${JSON.stringify(left)}`)
    },
  }
}
