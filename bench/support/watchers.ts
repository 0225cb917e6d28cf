/**
 * Many WebSocket connections in a process of their own that only listen. Of every chunk that comes the newest stamp of
 * `stamping-agent.ts` is compared with the time. Nobody hangs up before all are through: a thousand who leave are work of
 * another kind.
 */
import { createConnection } from 'node:net'
import { percentile } from './stats.ts'

export interface WatchJob {
  port: number
  connections: number
  request: string
  /** The end of a round, and how many of them there are. */
  last: string
  rounds: number
}

export interface Watched {
  medianMs: number
  p99Ms: number
  maxMs: number
  samples: number
}

const job = JSON.parse(process.argv[2]!) as WatchJob
const times: number[] = []
let greeted = 0
let open = job.connections

function newestStamp(bytes: Buffer): bigint | null {
  const end = bytes.lastIndexOf('>')
  const start = bytes.lastIndexOf('<', end)
  const text = end < 0 || start < 0 ? '' : bytes.toString('latin1', start + 1, end)
  return /^\d+$/.test(text) ? BigInt(text) : null
}

function through(): void {
  if (--open > 0) return
  const at = (share: number): number => percentile(times, share)
  const watched: Watched = { medianMs: at(0.5), p99Ms: at(0.99), maxMs: at(1), samples: times.length }
  process.stdout.write(`${JSON.stringify(watched)}\n`, () => process.exit())
}

function watch(): void {
  const socket = createConnection({ port: job.port, host: '127.0.0.1' })
  let isOpen = false
  let rounds = 0
  socket.write(job.request)
  socket.on('data', (bytes: Buffer) => {
    const now = process.hrtime.bigint()
    if (!isOpen) {
      isOpen = true
      if (++greeted === job.connections) process.stdout.write('ready\n')
      return
    }
    const stamp = newestStamp(bytes)
    if (stamp !== null) times.push(Number(now - stamp) / 1e6)
    if (bytes.includes(job.last) && ++rounds === job.rounds) through()
  })
  socket.on('error', (error) => {
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  })
}

for (let n = 0; n < job.connections; n++) watch()
