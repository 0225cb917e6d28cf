import { chmodSync, existsSync, lstatSync, mkdirSync, statSync, unlinkSync } from 'node:fs'
import { createConnection, createServer, type Server, type Socket } from 'node:net'
import { dirname } from 'node:path'
import type { LineConnection, LineHandler } from './connection.ts'
import { createInbox, type Inbox } from './inbox.ts'
import { forMany, lineBatch } from './line-writer.ts'
import { createLineSplitter, DEFAULT_MAX_LINE } from './ndjson.ts'
import { createWriter, type Writer } from './writer.ts'

const PATH_LIMIT = 107 // sun_path holds 108 bytes with its NUL
const CLOSE_MS = 1000
/** How often it is looked whether somebody has deleted the socket. */
const LOOK_MS = 5000
/** Connections that wait to be accepted: beyond that a client is refused, and a thousand may well come at once. */
const BACKLOG = 4096

export type { LineConnection, LineHandler } from './connection.ts'

export interface UnixOptions {
  path: string
  accept(connection: LineConnection): LineHandler
  /** Longest line that is read, in bytes. */
  lineLimit?: number
  /** Unsent bytes per connection beyond which `send` is false, and nothing more is read from that peer. */
  sendLimit?: number
  /** Make an existing directory private too (0700); never done to a shared one such as /tmp. */
  privateDirectory?: boolean
  /** How often it is looked whether the socket is still there. */
  lookMs?: number
}

export interface UnixListener {
  readonly path: string
  readonly connections: number
  /** Stops listening, lets what is queued go out, closes every connection. */
  close(): Promise<void>
}

export type UnixProblem = 'path_too_long' | 'in_use' | 'not_a_socket'

export class UnixSocketError extends Error {
  readonly code: UnixProblem

  constructor(code: UnixProblem, message: string) {
    super(message)
    this.name = 'UnixSocketError'
    this.code = code
  }
}

/**
 * Listens at `path`, for this user only. A socket file that nobody answers on is replaced, a live one is not. One that is deleted
 * later is made again; connections that are open stay.
 */
export async function listenUnix(options: UnixOptions): Promise<UnixListener> {
  const { path } = options
  const bytes = Buffer.byteLength(path)
  if (bytes > PATH_LIMIT) {
    const message = `the socket path ${path} has ${bytes} bytes, the system allows ${PATH_LIMIT}: choose a shorter one`
    throw new UnixSocketError('path_too_long', message)
  }
  prepareDirectory(dirname(path), options.privateDirectory ?? true)
  await removeStale(path)
  const links = new Set<Link>()
  const newServer = (): Server =>
    createServer({ allowHalfOpen: true }, (socket) => {
      const link = serve(socket, options, () => links.delete(link))
      links.add(link)
    })
  const stop = await keepListening(path, newServer, options.lookMs ?? LOOK_MS)
  return {
    path,
    get connections() {
      return links.size
    },
    async close() {
      const closed = stop()
      for (const link of links) link.connection.close()
      const timer = setTimeout(() => links.forEach((link) => link.socket.destroy()), CLOSE_MS)
      await closed
      clearTimeout(timer)
    },
  }
}

/** Resolves with how to stop; that resolves when every connection is gone. */
async function keepListening(
  path: string,
  newServer: () => Server,
  lookMs: number,
): Promise<() => Promise<unknown>> {
  const closings: Promise<void>[] = []
  let server = newServer()
  await bind(server, path)

  function leave(): void {
    const left = server
    closings.push(new Promise((resolve) => left.close(() => resolve())))
  }

  /** Looks, and waits for no event: whatever is in its place by now, ours or somebody else's, stays. */
  function look(): void {
    if (existsSync(path)) return
    if (server.listening) leave() // before the next one is there: whoever closes a socket deletes what is at its path
    server = newServer()
    bind(server, path).catch(() => {}) // its directory is gone, or somebody was faster: there is a next look
  }

  const looks = setInterval(look, lookMs).unref()
  return () => {
    clearInterval(looks)
    leave()
    return Promise.all(closings)
  }
}

function prepareDirectory(directory: string, makePrivate: boolean): void {
  const created = mkdirSync(directory, { recursive: true, mode: 0o700 })
  if (created !== undefined) return chmodSync(directory, 0o700)
  const stat = statSync(directory)
  const shared = (stat.mode & 0o1000) !== 0 || stat.uid !== process.getuid?.()
  if (makePrivate && !shared && (stat.mode & 0o077) !== 0) chmodSync(directory, 0o700)
}

async function removeStale(path: string): Promise<void> {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (!stat) return
  if (!stat.isSocket())
    throw new UnixSocketError('not_a_socket', `${path} exists and is not a socket: move it away`)
  if (await answers(path)) throw new UnixSocketError('in_use', `another process is listening on ${path}`)
  unlinkSync(path)
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createConnection(path)
    probe.once('connect', () => {
      probe.destroy()
      resolve(true)
    })
    // A full backlog (EAGAIN) or no permission still means that somebody is there.
    probe.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT')
    })
  })
}

/** The socket is never open to others, not even between bind and chmod. */
function bind(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    const umask = process.umask(0o177)
    try {
      server.listen({ path, backlog: BACKLOG }, () => {
        server.off('error', reject)
        chmodSync(path, 0o600)
        resolve()
      })
    } finally {
      process.umask(umask)
    }
  })
}

interface Link {
  socket: Socket
  connection: LineConnection
}

/** What a peer has sent, in order; `null` is the end of it. */
type Received = Buffer | { limit: number } | null

function serve(socket: Socket, options: UnixOptions, gone: () => void): Link {
  const inbox = createInbox<Received>(socket, (item) => {
    if (item === null) endOfInput()
    else if (!Buffer.isBuffer(item)) overflow(item.limit)
    else if (!socket.writableEnded) handler.line(item)
  })

  function endOfInput(): void {
    if (handler.ended) handler.ended()
    else connection.close()
  }

  function overflow(limit: number): void {
    // Reading goes on for a moment, so that the peer gets to see the answer instead of a broken pipe.
    handler.oversize?.(limit)
    output.flush()
    socket.end()
    setTimeout(() => socket.destroy(), CLOSE_MS).unref()
  }

  const output = createWriter({
    socket,
    limit: options.sendLimit ?? 1024 ** 2,
    batch: lineBatch(),
    isOpen: () => !socket.destroyed && !socket.writableEnded,
    onBlocked: inbox.pause,
    onDrained() {
      inbox.resume()
      handler.drain?.()
    },
  })
  const connection: LineConnection = {
    send: output.send,
    share: forMany,
    flush: output.now,
    pause: inbox.pause,
    resume: inbox.resume,
    close() {
      output.flush()
      socket.destroySoon()
    },
  }
  const handler = options.accept(connection)
  readLines(socket, options, inbox, output)
  socket.on('error', () => {}) // a peer that went away; `close` follows
  socket.on('close', () => {
    inbox.clear()
    gone()
    handler.closed?.()
  })
  return { socket, connection }
}

/** Whatever the lines of one chunk are answered with goes out in one write. */
function readLines(
  socket: Socket,
  { lineLimit = DEFAULT_MAX_LINE }: UnixOptions,
  inbox: Inbox<Received>,
  output: Pick<Writer<unknown>, 'hold' | 'release'>,
): void {
  const splitter = createLineSplitter({
    maxLineBytes: lineLimit,
    onLine: (line) => void (isBlank(line) || inbox.put(line)),
    onOverflow: (limit) => inbox.put({ limit }),
  })
  socket.on('data', (chunk: Buffer) => {
    output.hold()
    try {
      splitter.push(chunk)
    } finally {
      output.release()
    }
  })
  socket.on('end', () => {
    splitter.end()
    inbox.put(null)
  })
}

function isBlank(line: Buffer): boolean {
  return line.length === 0 || (line.length === 1 && line[0] === 0x0d)
}
