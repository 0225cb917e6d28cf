import { connect } from '../src/client/client.ts'
import { open } from './support/asking.ts'
import { request } from './support/codecast.ts'
import type { Result, Row } from './support/row.ts'
import { startBareEcho, startBareHttp, startDaemon } from './support/server.ts'
import { median, spread, timed } from './support/stats.ts'
import type { Workshop } from './support/workshop.ts'

const CALLS = 3000
const ROUNDS = 4
const SENDS = 200

/** Round trips of small requests, one after the other, against servers that do nothing. */
export async function rpc(shop: Workshop): Promise<Result[]> {
  const daemon = await startDaemon(shop)
  const echo = await startBareEcho(shop)
  const http = await startBareHttp(shop)
  const line = '{"jsonrpc":"2.0","id":1,"method":"events.unsubscribe","params":{"subscriptionId":"s0"}}\n'
  const health = request('health.check', {}, 'keep-alive')
  const native = await open({ path: daemon.socket }, '\n')
  const bareNative = await open({ path: echo.socket }, '\n')
  const web = await open({ port: daemon.port, host: '127.0.0.1' }, '}')
  const bareWeb = await open({ port: http.port, host: '127.0.0.1' }, '}')
  const times = { native: [] as number[], echo: [] as number[], web: [] as number[], bare: [] as number[] }
  const measure = async (into: number[], work: () => Promise<void>): Promise<void> => {
    await timed(500, work)
    into.push(...(await timed(CALLS / ROUNDS, work)))
  }
  for (let round = 0; round < ROUNDS; round++) {
    await measure(times.native, () => native.ask(line))
    await measure(times.echo, () => bareNative.ask(line))
    await measure(times.web, () => web.ask(health))
    await measure(times.bare, () => bareWeb.ask(health))
  }
  for (const connection of [native, bareNative, web, bareWeb]) connection.close()
  const sends = await commits(daemon.socket, daemon.project)
  for (const server of [daemon, echo, http]) await server.stop()
  return [
    compared('cheapest native request, round trip (against a bare line server)', times.native, times.echo),
    compared('health.check over HTTP, round trip (against a bare HTTP server)', times.web, times.bare),
    {
      name: 'session.send to a warm session, round trip until it is committed',
      value: median(sends),
      unit: 'ms',
      note: spread(sends),
    },
  ]
}

function compared(name: string, ours: number[], bare: number[]): Row {
  const note = `${spread(ours)}; bare: ${median(bare).toFixed(3)} ms`
  return { name, value: median(ours), unit: 'ms', ratio: median(ours) / median(bare), note }
}

async function commits(socket: string, cwd: string): Promise<number[]> {
  const client = await connect(socket)
  const { id: sessionId } = await client.call('session.create', { agent: 'demo', cwd })
  const stream = client.events({ sessionId, types: ['turn.completed'] })
  await stream.ready
  const ends = stream[Symbol.asyncIterator]()
  const times: number[] = []
  for (let round = 0; round <= SENDS; round++) {
    const [ms] = await timed(1, () => client.call('session.send', { sessionId, content: '[[say ok]]' }))
    // The first one waits for nobody, but starts the process.
    if (round > 0) times.push(ms!)
    await ends.next()
  }
  stream.close()
  client.close()
  return times
}
