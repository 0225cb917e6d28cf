import { cpSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Page } from 'playwright-core'
import { noChromium } from '../test/support/chromium.ts'
import { type Board, frameNote, openBoard, type Seen, visit } from './support/board.ts'
import { longAnswer, NEWEST, writeLongSession, writeManySessions } from './support/board-log.ts'
import { cpuOf, cpuUntold } from './support/cpu.ts'
import { atMost, type Result, type Row } from './support/row.ts'
import { startDaemon } from './support/server.ts'
import { median, pause, spread } from './support/stats.ts'
import type { Workshop } from './support/workshop.ts'

const PEERS = 'hapi 1,055 kB, CloudCLI 1,269 kB, qwen 1,559 kB'
const FRAME = atMost(50)
const OPENINGS = 9
const STREAM_MS = 8000
/** Less than 1000 / 200: timers are late, never early. */
const TOKEN_MS = 4
const STREAMING = 50
const CPU_MS = 10_000
const CPU_ROUNDS = 3
const STARTS = 11
const REST_MS = 10_000
const MEMORY_ROUNDS = 3

/** The dashboard in a real browser: what is loaded, how soon it is there, whether it is smooth, what it costs the daemon. */
export async function dashboard(shop: Workshop): Promise<Result[]> {
  if (noChromium) return [{ name: 'dashboard', skipped: noChromium }]
  return [
    ...(await longSession(shop)),
    ...(await manySessions(shop)),
    ...(await streamingSessions(shop)),
    ...(await atRest(shop)),
  ]
}

async function longSession(shop: Workshop): Promise<Result[]> {
  const home = shop.directory()
  const id = await writeLongSession(home)
  const board = await openBoard(shop, { home })
  const path = `/s/${id}`
  const rows = [
    ...(await firstLoad(board, '/', 'first load of the dashboard, scripts and styles, gzip')),
    ...(await firstLoad(board, path, '… of a session’s page')),
    ...(await openings(board, path)),
    ...(await streaming(board, path, id)),
  ]
  await board.close()
  return rows
}

/** What a browser fetches that has nothing yet; then the same files as gzip. */
async function firstLoad({ daemon, tab }: Board, path: string, name: string): Promise<Row[]> {
  const page = await tab()
  const network = await page.context().newCDPSession(page)
  await network.send('Network.enable')
  await network.send('Network.setCacheDisabled', { cacheDisabled: true })
  await network.send('Network.setBypassServiceWorker', { bypass: true })
  const fetched = new Map<string, Promise<number>>()
  page.on('requestfinished', (request) => {
    if (!['script', 'stylesheet'].includes(request.resourceType())) return
    fetched.set(
      request.url(),
      request.sizes().then(({ responseBodySize }) => responseBodySize),
    )
  })
  await visit(page, daemon.origin, path)
  await page.waitForLoadState('networkidle')
  const brotli = (await Promise.all(fetched.values())).reduce((sum, size) => sum + size, 0)
  const gzip = await Promise.all([...fetched.keys()].map(gzipBytes))
  await page.close()
  return [
    {
      name,
      value: gzip.reduce((sum, size) => sum + size, 0) / 1000,
      unit: 'kB',
      target: atMost(150),
      note: `${fetched.size} files; as the browser fetched them (br) ${(brotli / 1000).toFixed(1)} kB; gzip of others: ${PEERS}`,
    },
  ]
}

async function gzipBytes(url: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const { get } = await import('node:http')
  get(url, { headers: { 'accept-encoding': 'gzip' } }, (res) => {
    if (res.headers['content-encoding'] !== 'gzip') reject(new Error(`${url} is not to be had as gzip`))
    let bytes = 0
    res.on('data', (chunk: Buffer) => (bytes += chunk.length)).on('end', () => resolve(bytes))
  }).on('error', reject)
  return promise
}

/** From the beginning of a navigation, and from a click in the dashboard, to the newest message on the screen. */
async function openings({ daemon, tab }: Board, path: string): Promise<Row[]> {
  const loads: number[] = []
  const clicks: number[] = []
  const newest = JSON.stringify(NEWEST)
  const page = await tab(`probe.loaded = probe.painted(${newest}); probe.loaded.catch(() => {})`)
  for (let round = 0; round <= OPENINGS; round++) {
    await page.goto(`${daemon.origin}${path}`)
    loads.push(await page.evaluate<number>('probe.loaded'))
    await visit(page, daemon.origin, '/')
    const link = `a[href="${path}"]`
    await page.locator(link).first().waitFor()
    await pause(200)
    clicks.push(await page.evaluate<number>(`probe.opened(${JSON.stringify(link)}, ${newest})`))
  }
  await page.close()
  const row = (name: string, [, ...values]: number[]): Row => ({
    name,
    value: median(values),
    unit: 'ms',
    target: atMost(300),
    note: spread(values),
  })
  return [
    row('a session of 5,000 messages: navigation → newest message on the screen', loads),
    row('… click in the list → newest message on the screen', clicks),
  ]
}

/** Somebody follows the end of the long session while it grows, and then reads further up. */
async function streaming({ daemon, client, tab }: Board, path: string, sessionId: string): Promise<Row[]> {
  const page = await tab()
  await visit(page, daemon.origin, path)
  await page.evaluate(`probe.painted(${JSON.stringify(NEWEST)})`)
  const text = Buffer.from(longAnswer(200)).toString('base64')
  const script = `[[tell64 ${TOKEN_MS} ${text}]]`
  await client.call('session.send', { sessionId, content: script })
  await pause(1000)
  const atEnd = await rated(client, sessionId, () => watched(page))
  await page.mouse.move(700, 450)
  for (let n = 0; n < 10; n++) {
    await page.mouse.wheel(0, -300)
    await pause(50)
  }
  await pause(1000)
  const above = await watched(page, 'probe.hold()')
  await client.call('session.interrupt', { sessionId })
  await page.close()
  return [
    {
      name: '… longest time between two frames while tokens stream into it',
      value: atEnd.seen.longest,
      unit: 'ms',
      target: FRAME,
      note: `${Math.round(atEnd.perSecond)} tokens/s; ${frameNote(atEnd.seen)}`,
    },
    {
      name: '… what somebody reads who has scrolled up is moved by',
      value: above.moved,
      unit: 'px',
      target: atMost(0),
      note: `${STREAM_MS / 1000} s of streaming; ${frameNote(above)}`,
    },
  ]
}

async function watched(page: Page, then = '0'): Promise<Seen> {
  await page.evaluate(`probe.watch(); ${then}`)
  await pause(STREAM_MS)
  return page.evaluate<Seen>('probe.seen()')
}

/** How many events the session got meanwhile: each is a token. */
async function rated(client: Board['client'], sessionId: string, work: () => Promise<Seen>) {
  const head = async (): Promise<number> => (await client.call('daemon.status')).log.head
  const [from, before] = [performance.now(), await head()]
  const seen = await work()
  const seconds = (performance.now() - from) / 1000
  return { seen, perSecond: ((await head()) - before) / seconds }
}

async function manySessions(shop: Workshop): Promise<Result[]> {
  const home = shop.directory()
  await writeManySessions(home)
  const board = await openBoard(shop, { home })
  const page = await board.tab(
    `probe.loaded = probe.painted('Session number 0:'); probe.loaded.catch(() => {})`,
  )
  const loads: number[] = []
  for (let round = 0; round <= OPENINGS; round++) {
    await visit(page, board.daemon.origin, '/')
    loads.push(await page.evaluate<number>('probe.loaded'))
  }
  await pause(1000)
  await page.evaluate('probe.watch()')
  const { steps, height } = await page.evaluate<{ steps: number; height: number }>('probe.through(120)')
  const seen = await page.evaluate<Seen>('probe.seen()')
  await board.close()
  return [
    {
      name: '1,000 sessions in Now: navigation → on the screen',
      value: median(loads.slice(1)),
      unit: 'ms',
      note: spread(loads.slice(1)),
    },
    {
      name: '… longest time between two frames while scrolling through them',
      value: seen.longest,
      unit: 'ms',
      target: FRAME,
      note: `${steps} steps through ${Math.round(height).toLocaleString('en')} px and back; ${frameNote(seen)}`,
    },
  ]
}

/** The same sessions stream all the time; the browser looks on, or at nothing. */
async function streamingSessions(shop: Workshop): Promise<Result[]> {
  const name = `processor of the daemon while ${STREAMING} sessions stream`
  if (cpuUntold) return [{ name, skipped: cpuUntold }]
  const board = await openBoard(shop)
  const { daemon, client } = board
  const page = await board.tab()
  const content = '[[drip 100000 50]]'
  for (let n = 0; n < STREAMING; n++) {
    const { id: sessionId } = await client.call('session.create', { agent: 'demo', cwd: daemon.project })
    await client.call('session.send', { sessionId, content })
  }
  const used = { alone: [] as number[], watched: [] as number[] }
  for (let round = 0; round < CPU_ROUNDS; round++) {
    await page.goto('about:blank')
    await pause(2000)
    used.alone.push(await cpuOf(daemon.pid, CPU_MS))
    await visit(page, daemon.origin, '/')
    await pause(2000)
    used.watched.push(await cpuOf(daemon.pid, CPU_MS))
  }
  await board.close()
  const more = median(used.watched.map((value, at) => value - used.alone[at]!))
  return [
    {
      name: `${name}, 20 tokens/s each, of a core`,
      value: median(used.alone),
      unit: '%',
      note: spread(used.alone),
    },
    {
      name: '… with a dashboard that watches them',
      value: median(used.watched),
      unit: '%',
      note: spread(used.watched),
    },
    {
      name: '… the dashboard adds',
      value: more,
      unit: '%',
      target: atMost(5),
      note: 'median of the differences',
    },
  ]
}

/** What the dashboard costs those who do not look at it, and those who have looked. */
async function atRest(shop: Workshop): Promise<Result[]> {
  const bare = withoutDashboard(shop)
  const [home, other] = [shop.directory(), shop.directory()]
  const times = { bare: [] as number[], ours: [] as number[] }
  for (let round = 0; round <= STARTS; round++) {
    times.bare.push(await readyMs(shop, other, bare))
    times.ours.push(await readyMs(shop, home))
  }
  const [without, withIt] = [times.bare.slice(1), times.ours.slice(1)]
  return [
    {
      name: 'ready: the daemon without the files of the dashboard',
      value: median(without),
      unit: 'ms',
      note: spread(without),
    },
    {
      name: '… with them',
      value: median(withIt),
      unit: 'ms',
      ratio: median(withIt) / median(without),
      target: atMost(1.05, 'ratio'),
      note: spread(withIt),
    },
    ...(await memoryRows(shop, bare)),
  ]
}

async function memoryRows(shop: Workshop, bare: string): Promise<Row[]> {
  const lean: number[] = []
  const rested: number[] = []
  for (let round = 0; round < MEMORY_ROUNDS; round++) {
    const both = [await startDaemon(shop, { program: bare }), await startDaemon(shop)] as const
    await pause(REST_MS)
    lean.push(both[0].memory())
    rested.push(both[1].memory())
    await Promise.all(both.map((daemon) => daemon.stop()))
  }
  const before = median(rested)
  const { open, after } = await lookedAt(shop)
  return [
    {
      name: 'memory at rest: the daemon without the files of the dashboard',
      value: median(lean),
      unit: 'MB',
      note: spread(lean),
    },
    {
      name: '… with them, more by',
      value: before - median(lean),
      unit: 'MB',
      target: atMost(2),
      note: spread(rested),
    },
    {
      name: '… after a dashboard was open for a while and is closed, more by',
      value: after - before,
      unit: 'MB',
      note: `${before.toFixed(1)} → ${open.toFixed(1)} (open) → ${after.toFixed(1)} MB`,
    },
  ]
}

/** A copy of the program that has no dashboard to serve. */
function withoutDashboard(shop: Workshop): string {
  const copy = join(shop.directory(), 'program')
  cpSync(dirname(dirname(shop.program)), copy, { recursive: true })
  rmSync(join(copy, 'dist/web'), { recursive: true })
  return join(copy, 'dist/main.js')
}

async function readyMs(shop: Workshop, home: string, program = shop.program): Promise<number> {
  const daemon = await startDaemon(shop, { home, program })
  await daemon.stop()
  return daemon.readyMs
}

/** Memory of a daemon with a dashboard that is open, and when it has been closed for some time. */
async function lookedAt(shop: Workshop): Promise<{ open: number; after: number }> {
  const board = await openBoard(shop)
  const open = await lookedAround(board)
  await board.leave()
  await pause(3 * REST_MS)
  const after = board.daemon.memory()
  await board.close()
  return { open, after }
}

async function lookedAround({ daemon, client, tab }: Board): Promise<number> {
  const { id: sessionId } = await client.call('session.create', { agent: 'demo', cwd: daemon.project })
  await client.call('session.send', { sessionId, content: '[[drip 200 20]]' })
  const page = await tab()
  const session = `/s/${sessionId}`
  for (const path of ['/', session, `${session}/changes`, '/inbox', '/system', '/settings', '/'])
    await visit(page, daemon.origin, path)
  await pause(REST_MS)
  return daemon.memory()
}
