import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { claudeDriver } from '../src/agents/claude/driver.ts'
import { uuid } from '../src/core/ids.ts'
import type { Intent } from '../src/core/ports.ts'
import type { Session } from '../src/core/session.ts'
import { CLAUDE, claudeAbsent } from '../test/support/claude-env.ts'
import { aSession } from '../test/support/session.ts'
import { firstToken, newSession } from './support/codecast.ts'
import { atLeast, atMost, type Result } from './support/row.ts'
import { startDaemon, startProgram } from './support/server.ts'
import { median, pause, percentile, spread } from './support/stats.ts'
import type { Workshop } from './support/workshop.ts'

const MODEL = new URL('../test/support/model/main.ts', import.meta.url).pathname
/** One process is not like another: each way has several, measured in turn. */
const PROCESSES = 3
/** Pairs for each of them; after every fifth round comes a new process per turn. */
const ROUNDS = 24
/** Claude tidies up after a turn; nobody is measured while it does. */
const REST_MS = 200
const MESSAGE = '[[say hello]]'
const NAME = 'claude, second turn, message sent → first token'

/** A warm session through the daemon, the same process driven directly, and a new process for every turn. */
export async function claude(shop: Workshop): Promise<Result[]> {
  if (claudeAbsent) return [{ name: NAME, skipped: claudeAbsent }]
  const model = await startProgram(shop, [MODEL])
  const env = environment(model.line)
  const daemon = await startDaemon(shop, { env })
  const lanes = []
  for (let i = 0; i < PROCESSES; i++) {
    const sessionId = await newSession(daemon.port, daemon.project, 'claude')
    const bare = openBare(shop, env)
    lanes.push({ through: () => firstToken(daemon.port, sessionId, MESSAGE), direct: bare.warm, bare })
  }
  const { resumed } = lanes[0]!.bare
  for (const start of [...lanes.flatMap(({ through, direct }) => [through, direct]), resumed]) {
    await start()
    await start()
  }
  const times = { through: [] as number[], direct: [] as number[], resumed: [] as number[] }
  const measure = async (kind: keyof typeof times, start: () => Promise<number>): Promise<void> => {
    await pause(REST_MS)
    times[kind].push(await start())
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const lane of lanes) {
      const pair = ['through', 'direct'] as const
      for (const kind of round % 2 === 0 ? pair : pair.toReversed()) await measure(kind, lane[kind])
    }
    if (round % 5 === 0) {
      for (let again = 0; again < 2; again++) await measure('resumed', resumed)
      await pause(REST_MS)
    }
  }
  await Promise.all(lanes.map(({ bare }) => bare.close()))
  await daemon.stop()
  await model.server.stop()
  return rowsOf(times)
}

function rowsOf({ through, direct, resumed }: Record<'through' | 'direct' | 'resumed', number[]>): Result[] {
  const ratio = median(through) / median(direct)
  const least = percentile(through, 0) / percentile(direct, 0)
  return [
    { name: `${NAME}: the bare process`, value: median(direct), unit: 'ms', note: spread(direct) },
    {
      name: '… through the daemon, at an SSE client',
      value: median(through),
      unit: 'ms',
      ratio,
      target: atMost(1.1, 'ratio'),
      note: `${spread(through)}; minima: × ${least.toFixed(3)}`,
    },
    {
      name: '… a new `claude -p --resume` per turn, against the daemon',
      value: median(resumed),
      unit: 'ms',
      ratio: median(resumed) / median(through),
      target: atLeast(8, 'ratio'),
      note: spread(resumed),
    },
  ]
}

function environment(modelUrl: string): NodeJS.ProcessEnv {
  return {
    CORRAL_CLAUDE_BIN: CLAUDE,
    ANTHROPIC_API_KEY: 'sk-test',
    ANTHROPIC_BASE_URL: modelUrl,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_MAX_RETRIES: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
  }
}

/** Processes over plain pipes, with the arguments that the daemon gives them. */
function openBare(shop: Workshop, env: NodeJS.ProcessEnv) {
  const home = shop.directory()
  const cwd = join(home, 'project')
  for (const name of ['project', 'tmp']) mkdirSync(join(home, name))
  const detection = { name: 'claude', installed: true, path: CLAUDE, version: null, problem: null }
  const conversation = uuid()
  const plain = { PATH: process.env['PATH'], LANG: 'C.UTF-8', HOME: home, TMPDIR: join(home, 'tmp') }

  function start(patch: Partial<Session>, id: () => string): ChildProcess {
    const session = aSession({ agent: 'claude', mode: 'auto', cwd, ...patch })
    const plan = claudeDriver.plan(session, detection, id)
    const child = shop.spawn(plan.command, plan.args, { cwd, env: { ...plain, ...env, ...plan.env } })
    child.stderr!.resume()
    return child
  }

  let begun = false
  const running = start({}, uuid)
  return {
    warm: () => turn(running, performance.now()),
    async resumed() {
      const sent = performance.now()
      const child = start({ nativeId: begun ? conversation : null }, () => conversation)
      begun = true
      const ms = await turn(child, sent)
      child.stdin!.end()
      await once(child, 'exit')
      return ms
    },
    async close() {
      running.stdin!.end()
      await once(running, 'exit')
    },
  }
}

/** Sends the message; resolves at the end of the turn, with the time from `sent` to the first piece of the answer. */
function turn(child: ChildProcess, sent: number): Promise<number> {
  const prompt: Intent = { kind: 'prompt', turnId: uuid(), input: [{ type: 'text', text: MESSAGE }] }
  return new Promise((resolve, reject) => {
    let text = ''
    let first = 0
    const ended = (): void => reject(new Error(`claude ended: ${text.slice(-500)}`))
    const onData = (bytes: Buffer): void => {
      text += bytes.toString('latin1')
      if (first === 0 && text.includes('"type":"text_delta"')) first = performance.now()
      if (!text.includes('"type":"result"')) return
      child.stdout!.off('data', onData)
      child.off('exit', ended)
      resolve(first - sent)
    }
    child.once('exit', ended)
    child.stdout!.on('data', onData)
    for (const line of claudeDriver.encode(prompt)) child.stdin!.write(`${line}\n`)
  })
}
