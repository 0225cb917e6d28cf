import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { demoDriver } from '../../../src/agents/demo/driver.ts'
import { lineSplitter } from '../../../src/agents/demo/lines.ts'
import type { DriverOutput } from '../../../src/agents/output.ts'
import type { Intent } from '../../../src/core/ports.ts'
import type { Session } from '../../../src/core/session.ts'
import { COMPILED } from '../daemon.ts'
import { aSession } from '../session.ts'
import { arrival } from '../wait.ts'

type OutputOf<T extends DriverOutput['type']> = Extract<DriverOutput, { type: T }>

export interface Demo {
  child: ChildProcess
  outputs: DriverOutput[]
  /** Lines that were not JSON. */
  garbage: string[]
  exit: Promise<{ code: number | null; signal: string | null; stderr: string }>
  write(...lines: string[]): void
  tell(intent: Intent): void
  say(turnId: string, text: string): void
  /** Allows or denies the question, with more of a decision if need be. */
  decide(asked: OutputOf<'approval.asked'>, decision: Extract<Intent, { kind: 'decision' }>['decision']): void
  /** The `nth` output of a type, counted from 1; waits for it. */
  wait<T extends DriverOutput['type']>(type: T, nth?: number): Promise<OutputOf<T>>
  all<T extends DriverOutput['type']>(type: T): OutputOf<T>[]
  /** Says something and waits for the end of the turn. */
  turn(turnId: string, text: string): Promise<OutputOf<'turn.ended'>>
  stop(): Promise<void>
}

/** The demo agent over pipes, as its driver plans it and its translator reads it. */
export async function startDemo(session: Session, env: Record<string, string>): Promise<Demo> {
  const plan = demoDriver.plan(session, await demoDriver.detect())
  const child = spawn(plan.command, plan.args, {
    cwd: plan.cwd,
    env: { ...COMPILED, ...plan.env, ...env },
    stdio: 'pipe',
  })
  const { outputs, garbage, wait } = translate(child)
  let stderr = ''
  child.stderr.on('data', (bytes: Buffer) => (stderr += bytes.toString()))
  child.stdin.on('error', () => undefined)
  const exit = once(child, 'close').then(([code, signal]) => {
    return { code: code as number | null, signal: signal as string | null, stderr }
  })
  const write = (...lines: string[]) => lines.forEach((line) => child.stdin.write(`${line}\n`))
  const tell = (intent: Intent) => write(...demoDriver.encode(intent))
  const say = (turnId: string, text: string) =>
    tell({ kind: 'prompt', turnId, input: [{ type: 'text', text }] })
  const all = <T extends DriverOutput['type']>(type: T) =>
    outputs.filter((one): one is OutputOf<T> => one.type === type)
  write(...plan.greeting)
  return {
    child,
    outputs,
    garbage,
    exit,
    write,
    tell,
    say,
    wait,
    all,
    decide: ({ approval }, decision) =>
      tell({ kind: 'decision', approval: { ...approval, id: 'x' }, decision }),
    turn(turnId, text) {
      const ended = all('turn.ended').length
      say(turnId, text)
      return wait('turn.ended', ended + 1)
    },
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
      await exit
    },
  }
}

function translate(child: ChildProcess) {
  const outputs: DriverOutput[] = []
  const garbage: string[] = []
  const waiters = new Set<() => void>()
  let isOver = false
  let state = demoDriver.translator.initial(aSession())

  const split = lineSplitter(
    64 * 1024 * 1024,
    (bytes) => {
      const line = parsed(bytes)
      if (line === undefined) return void garbage.push(bytes.toString('latin1'))
      const step = demoDriver.translator.step(state, line)
      state = step.state
      outputs.push(...step.outputs)
    },
    () => assertShort(),
  )
  child.stdout!.on('data', (chunk: Buffer) => {
    split(chunk)
    for (const look of waiters) look()
  })
  child.once('close', () => {
    isOver = true
    for (const look of waiters) look()
  })

  const wait = <T extends DriverOutput['type']>(type: T, nth = 1) => {
    const what = () => `${type} number ${nth}; last outputs: ${outputs.slice(-20).map((one) => one.type)}`
    const found = new Promise<OutputOf<T>>((resolve, reject) => {
      const look = () => {
        const output = outputs.filter((one): one is OutputOf<T> => one.type === type)[nth - 1]
        if (!output && !isOver) return
        waiters.delete(look)
        if (output) resolve(output)
        else reject(new Error(`it has ended without ${what()}`))
      }
      waiters.add(look)
      look()
    })
    return arrival(found, what)
  }
  return { outputs, garbage, wait }
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}

function assertShort(): never {
  throw new RangeError('a line of the demo agent is too long')
}
