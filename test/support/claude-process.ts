import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Detection, LaunchPlan } from '../../src/agents/agent.ts'
import { claudeDriver } from '../../src/agents/claude/driver.ts'
import type { Approval, Decision } from '../../src/core/approval.ts'
import type { Content } from '../../src/core/content.ts'
import type { DriverOutput } from '../../src/agents/output.ts'
import { uuid } from '../../src/core/ids.ts'
import type { Intent } from '../../src/core/ports.ts'
import type { Session } from '../../src/core/session.ts'
import { CLAUDE } from './claude-env.ts'
import { aSession } from './session.ts'
import { arrival } from './wait.ts'

export const REAL: Detection = { name: 'claude', installed: true, path: CLAUDE, version: null, problem: null }

export type Of<T extends DriverOutput['type']> = Extract<DriverOutput, { type: T }>

export function session(patch: Partial<Session> = {}): Session {
  return aSession({ agent: 'claude', ...patch })
}

/** A home, a work folder and a model for real processes; `close` ends what still runs. */
export function sandbox(modelUrl: string) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'corral-claude-real-')))
  for (const name of ['home', 'tmp', 'work', 'parking']) mkdirSync(join(root, name))
  const running = new Set<ChildProcess>()
  const env = environment(root, modelUrl)
  const inWork = (name: string) => join(root, 'work', name)
  const run = (plan: LaunchPlan, more: Record<string, string> = {}) => {
    const claude = launch(plan, { ...env, ...plan.env, ...more }, running)
    claude.write(plan.greeting)
    return claude
  }
  return {
    root,
    inWork,
    run,
    start(patch: Partial<Session> = {}, more: Record<string, string> = {}) {
      return run(claudeDriver.plan(session({ cwd: inWork(''), ...patch }), REAL, uuid), more)
    },
    async close() {
      for (const child of running) {
        child.kill('SIGKILL')
        await once(child, 'close')
      }
      rmSync(root, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

function environment(root: string, modelUrl: string): Record<string, string> {
  return {
    HOME: join(root, 'home'),
    TMPDIR: join(root, 'tmp'),
    PATH: '/usr/local/bin:/usr/bin:/bin',
    LANG: 'C.UTF-8',
    ANTHROPIC_API_KEY: 'sk-test',
    ANTHROPIC_BASE_URL: modelUrl,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    CLAUDE_CODE_MAX_RETRIES: '1',
  }
}

/** A process as the host runs it, but over pipes: lines in, outputs of the translator out. */
function launch(plan: LaunchPlan, env: Record<string, string>, running: Set<ChildProcess>) {
  const child = spawn(plan.command, plan.args, { cwd: plan.cwd, env })
  running.add(child)
  const outputs: DriverOutput[] = []
  const waiting = new Set<() => void>()
  let state = claudeDriver.translator.initial(aSession())
  let rest = Buffer.alloc(0)
  child.stdout.on('data', (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes])
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      const step = claudeDriver.translator.step(state, JSON.parse(rest.toString('utf8', 0, end)))
      state = step.state
      outputs.push(...step.outputs)
      rest = rest.subarray(end + 1)
    }
    for (const look of waiting) look()
  })
  child.stderr.resume()
  child.stdin.on('error', () => undefined)
  const exit = once(child, 'close').then(([code]) => {
    running.delete(child)
    for (const look of waiting) look()
    return code as number | null
  })

  const write = (lines: string[]) => lines.forEach((line) => child.stdin.write(`${line}\n`))
  const tell = (intent: Intent) => write(claudeDriver.encode(intent))
  let read = 0
  /** The next output that fits, after the one that was waited for last. */
  const next = async <T extends DriverOutput['type']>(...types: T[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<Of<T>>()
    const look = () => {
      while (read < outputs.length) {
        const output = outputs[read++]!
        if (!(types as string[]).includes(output.type)) continue
        waiting.delete(look)
        return resolve(output as Of<T>)
      }
      if (child.exitCode !== null) reject(new Error(`ended with ${child.exitCode}`))
    }
    waiting.add(look)
    look()
    const last = () => JSON.stringify(outputs.slice(-5))
    return arrival(promise, () => `${types.join()}; last outputs: ${last()}`).finally(() =>
      waiting.delete(look),
    )
  }
  const say = (text: string | Content[]) => {
    const turnId = uuid()
    const input = typeof text === 'string' ? [{ type: 'text' as const, text }] : text
    tell({ kind: 'prompt', turnId, input })
    return turnId
  }
  return {
    outputs,
    exit,
    write,
    tell,
    next,
    say,
    decide: (approval: Approval, decision: Decision) => tell({ kind: 'decision', approval, decision }),
    /** A whole turn; `decide` answers what it asks. */
    async turn(
      text: string | Content[],
      decide?: (approval: Approval) => Decision,
    ): Promise<Of<'turn.ended'>> {
      say(text)
      for (;;) {
        const output = await next('turn.ended', 'approval.asked')
        if (output.type === 'turn.ended') return output
        assert.ok(decide, `nothing was to be asked, but ${output.approval.tool} was`)
        const approval = { ...output.approval, id: 'x' }
        tell({ kind: 'decision', approval, decision: decide(approval) })
      }
    },
    async end(): Promise<number | null> {
      write(claudeDriver.farewell())
      return exit
    },
  }
}
