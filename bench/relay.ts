import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Session } from '../src/core/session.ts'
import { type RealAgent, REAL_AGENTS, startModel } from './support/agents.ts'
import { openBare } from './support/bare-agent.ts'
import { atMost, type Result } from './support/row.ts'
import { type BenchDaemon, startDaemon } from './support/server.ts'
import { median, pause, spread, timed } from './support/stats.ts'
import type { Workshop } from './support/workshop.ts'

const ROUNDS = 16
/** A process that has just started still tidies up. */
const REST_MS = 1500
const RESETS = 30
const CROWD = 200
const CALLS = 300
const SYSTEM = 'You are a helpful assistant that answers through an API.'
const MESSAGE = '[[say hello]]'

/** Calls of programs: on warm agents, on many at once, and through to another API. */
export async function relay(shop: Workshop): Promise<Result[]> {
  const claude = REAL_AGENTS.find(({ name }) => name === 'claude')!
  const first = claude.absent
    ? [{ name: 'a call on a warm claude', skipped: claude.absent }]
    : await firstTokens(shop, claude)
  return [...first, ...(await many(shop)), ...(await upstream(shop))]
}

/** Each call has a process of its own on either side, which has been waiting for it. */
async function firstTokens(shop: Workshop, claude: RealAgent): Promise<Result[]> {
  const model = await startModel(shop)
  const [home, bareHome] = [await claude.home(model), await claude.home(model)]
  const daemon = await startDaemon(shop, { env: home.env })
  const times = { through: [] as number[], bare: [] as number[] }
  const resets: number[] = []
  const settings: Session['settings'] = { systemPrompt: SYSTEM, clientTools: [], ownTools: false }
  for (let round = 0; round < ROUNDS; round++) {
    const ways = round % 2 === 0 ? (['through', 'bare'] as const) : (['bare', 'through'] as const)
    await warmUp(daemon, 2)
    const bare = await openBare(shop, claude, bareHome, { settings })
    await pause(REST_MS)
    for (const way of ways) {
      times[way].push(way === 'bare' ? (await bare.turn(MESSAGE)).firstMs : await firstToken(daemon, MESSAGE))
      await pause(REST_MS)
    }
    await bare.close()
    await warmUp(daemon, 2)
    resets.push(...(await timed(1, () => send(daemon.relay, '/v1/sessions/bench/reset', {}))))
  }
  await daemon.stop()
  await Promise.all([home.close(), bareHome.close()])
  await model.close()
  const ratio = median(times.through) / median(times.bare)
  return [
    {
      name: 'the first turn of a bare warm claude, message sent → first token',
      value: median(times.bare),
      unit: 'ms',
      note: spread(times.bare),
    },
    {
      name: '… as a stateless call through the relay, request → first token',
      value: median(times.through),
      unit: 'ms',
      ratio,
      target: atMost(1.15, 'ratio'),
      note: spread(times.through),
    },
    {
      name: 'reset of a session, a claude waiting',
      value: median(resets),
      unit: 'ms',
      target: atMost(15),
      note: spread(resets),
    },
  ]
}

async function many(shop: Workshop): Promise<Result[]> {
  const daemon = await startDaemon(shop, { env: { CORRAL_RELAY_AGENT: 'demo' } })
  await send(daemon.relay, '/v1/messages', call('[[say hello]]', false), { 'x-ir-session-id': 'bench' })
  const resets = await timed(RESETS, async () => {
    await send(daemon.relay, '/v1/sessions/bench/reset', {})
  })
  const before = daemon.memory()
  let most = before
  const watch = setInterval(() => (most = Math.max(most, daemon.memory())), 250)
  const from = performance.now()
  const answers = await Promise.allSettled(
    Array.from({ length: CROWD }, () => send(daemon.relay, '/v1/messages', call('[[drip 20 10]]', true))),
  )
  const took = performance.now() - from
  clearInterval(watch)
  const whole = answers.filter((one) => one.status === 'fulfilled' && one.value.includes('message_stop'))
  await daemon.stop()
  return [
    {
      name: 'reset of a session, a demo agent waiting',
      value: median(resets),
      unit: 'ms',
      target: atMost(15),
      note: spread(resets),
    },
    {
      name: `${CROWD} streaming calls at once on the demo agent, all of them`,
      value: took,
      unit: 'ms',
      note: `${whole.length} of ${CROWD} whole; memory of the daemon: ${before.toFixed(0)} MB before, ${most.toFixed(0)} MB at the most`,
    },
  ]
}

/** A server that answers at once, asked directly and through the relay in turn. */
async function upstream(shop: Workshop): Promise<Result[]> {
  const server = createServer((req, res) => {
    req.resume().on('end', () => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      const chunk = (delta: object, finish: string | null): string =>
        `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
      res.end(`${chunk({ role: 'assistant', content: 'hello' }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const daemon = await startDaemon(shop, { env: { PATH: '/nowhere' } })
  const upstreams = [{ name: 'local', kind: 'openai', baseUrl: `http://127.0.0.1:${port}/v1` }]
  await send(daemon.relay, '/v1/settings', { upstreams }, {}, 'PATCH')
  const body = { model: 'm', stream: true, messages: [{ role: 'user', content: 'hello' }] }
  const direct = async (): Promise<unknown> => send(port, '/v1/chat/completions', body)
  const through = async (): Promise<unknown> => send(daemon.relay, '/v1/chat/completions', body)
  await timed(100, direct)
  await timed(100, through)
  const times = { direct: [] as number[], through: [] as number[] }
  for (let i = 0; i < CALLS; i++) {
    times.direct.push(...(await timed(1, direct)))
    times.through.push(...(await timed(1, through)))
  }
  await daemon.stop()
  server.closeAllConnections()
  server.close()
  return [
    {
      name: 'a call of another API, directly',
      value: median(times.direct),
      unit: 'ms',
      note: spread(times.direct),
    },
    {
      name: '… added by the relay',
      value: median(times.through) - median(times.direct),
      unit: 'ms',
      ratio: median(times.through) / median(times.direct),
      target: atMost(2),
      note: spread(times.through),
    },
  ]
}

function call(text: string, stream: boolean): object {
  const messages = [{ role: 'user', content: text }]
  return { model: 'claude-sonnet-4-6', max_tokens: 1000, system: SYSTEM, messages, stream }
}

async function warmUp(daemon: BenchDaemon, count: number): Promise<void> {
  const { ok } = JSON.parse(await send(daemon.relay, '/v1/warmup', { count, wait: true })) as { ok: boolean }
  if (!ok) throw new Error('no agent is warm')
}

const agent = new Agent({ keepAlive: true })

function firstToken(daemon: BenchDaemon, text: string): Promise<number> {
  const sent = performance.now()
  let first = 0
  return send(daemon.relay, '/v1/messages', call(text, true), {}, 'POST', (chunk) => {
    if (first === 0 && chunk.includes('text_delta')) first = performance.now() - sent
  }).then(() => first)
}

function send(
  port: number,
  path: string,
  body: object,
  headers: Record<string, string> = {},
  method = 'POST',
  heard?: (chunk: string) => void,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const req = request(
      {
        port,
        path,
        method,
        agent,
        host: '127.0.0.1',
        headers: { 'content-type': 'application/json', ...headers },
      },
      (res) => {
        let text = ''
        res.setEncoding('utf8')
        res.on('data', (chunk: string) => {
          text += chunk
          heard?.(chunk)
        })
        res.on('end', () =>
          res.statusCode! < 300 ? resolve(text) : reject(new Error(`${res.statusCode} ${text}`)),
        )
        res.on('error', reject)
      },
    )
    req.on('error', reject)
    req.end(JSON.stringify(body))
  })
}
