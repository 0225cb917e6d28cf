/**
 * A light reader, in a process of its own: counts marks in what comes over one or many connections and parses nothing.
 * Prints a line when every connection has had its first bytes, and another one at the end of all of them.
 */
import { createConnection, type NetConnectOpts } from 'node:net'

export interface CountJob {
  to: NetConnectOpts
  connections: number
  /** Written by every connection, as it is. */
  request: string
  mark: string
  /** Where a connection is through. */
  last: string
}

export interface Counted {
  marks: number
  /** Since the requests were written. */
  firstMs: number
  lastMs: number
  doneMs: number
}

const job = JSON.parse(process.argv[2]!) as CountJob
const mark = Buffer.from(job.mark)
const last = Buffer.from(job.last)
const sentAt = performance.now()
let marks = 0
let firstAt = 0
let lastAt = 0
let greeted = 0
let open = job.connections

function count(bytes: Buffer): number {
  let found = 0
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + mark.length)) found++
  return found
}

/** Where two pieces meet: what lies across their border, for something of this length. */
function border(before: Buffer, bytes: Buffer, length: number): Buffer {
  return Buffer.concat([before.subarray(-(length - 1)), bytes.subarray(0, length - 1)])
}

function through(): void {
  if (--open > 0) return
  const since = (at: number): number => at - sentAt
  const counted: Counted = {
    marks,
    firstMs: since(firstAt),
    lastMs: since(lastAt),
    doneMs: since(performance.now()),
  }
  process.stdout.write(`${JSON.stringify(counted)}\n`, () => process.exit())
}

for (let i = 0; i < job.connections; i++) {
  const socket = createConnection(job.to)
  let before = Buffer.alloc(0)
  let ended = false
  socket.write(job.request)
  socket.on('data', (bytes: Buffer) => {
    if (before.length === 0 && ++greeted === job.connections) process.stdout.write('ready\n')
    const found = count(bytes) + count(border(before, bytes, mark.length))
    if (found > 0) {
      marks += found
      lastAt = performance.now()
      firstAt ||= lastAt
    }
    const over = bytes.includes(last) || border(before, bytes, last.length).includes(last)
    before = Buffer.from(bytes.subarray(-256))
    if (!over || ended) return
    ended = true
    socket.end()
    through()
  })
  socket.on('error', (error) => {
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  })
}
