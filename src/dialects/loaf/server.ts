import type { Readable, Writable } from 'node:stream'
import { createLineSplitter, DEFAULT_MAX_LINE } from '../../transports/ndjson.ts'
import { createChoices } from './choices.ts'
import { Followed, type Context } from './context.ts'
import { asLoafError, failure, LoafError, METHOD_NOT_FOUND } from './errors.ts'
import { errorLine, invalidRequest, readLine, resultLine, type Request } from './framing.ts'
import { METHODS } from './methods.ts'
import { createOutput } from './output.ts'
import type { Corral, Memory, SignIn } from './ports.ts'
import { createRooms } from './rooms.ts'
import { sayLast } from './snapshot.ts'
import { within } from './within.ts'

/** So many requests may be under way; the next ones wait in the pipe. */
const MAX_UNDER_WAY = 200
const FLUSH_MS = 2000
/** Requests under way when the end comes have this long. */
const LAST_MS = 30_000

export interface ServerOptions {
  corral: Corral
  signIn: SignIn
  memory: Memory
  input: Readable
  output: Writable
  cwd: string
  home: string
  newId(): string
  now(): number
}

export interface Server {
  /** Resolves when all is said that there was to say. */
  closed: Promise<void>
  /** Says why it ends, and ends. */
  leave(reason: string): void
}

/** Serves one client, until it closes our stdin, does not read any more, or wants an end. */
export function serve(options: ServerOptions): Server {
  const { corral, signIn, memory, input, cwd, home, newId, now } = options
  const output = createOutput(options.output, now)
  const debug = { on: false }
  const underWay = new Set<Promise<void>>()
  const ending = Promise.withResolvers<void>()
  let isRefusing = false
  let paused = false

  const context: Context = {
    corral,
    signIn,
    memory,
    output,
    rooms: createRooms({ corral, output, newId, now, wantsDebug: () => debug.on }),
    choices: createChoices({ corral, signIn }),
    cwd,
    home,
    newId,
    now,
    debug,
    waits: { signIns: 0 },
    refuseNew: () => void (isRefusing = true),
    end: ending.resolve,
  }

  async function answer({ id, method, params }: Request): Promise<void> {
    try {
      const value = await call(method, params)
      const followed = value instanceof Followed ? value : null
      output.line(resultLine(id, followed ? followed.result : value))
      followed?.next()
    } catch (error) {
      output.line(errorLine(id, asLoafError(error, params)))
    }
  }

  function call(method: string, params: unknown): unknown {
    if (isRefusing) throw failure('the server is shutting down', 'shutting_down')
    if (Object.hasOwn(METHODS, method)) return METHODS[method]!(params, context)
    throw new LoafError(METHOD_NOT_FOUND, `method not found: ${method}`, {
      reason: 'method_not_found',
      method,
    })
  }

  function take(line: Buffer): void {
    let request: Request | null
    try {
      request = readLine(line)
    } catch (error) {
      return output.line(errorLine(null, asLoafError(error)))
    }
    if (!request) return
    const done = answer(request).finally(() => underWay.delete(done))
    underWay.add(done)
  }

  const splitter = createLineSplitter({
    onLine: take,
    onOverflow: (limit) =>
      output.line(errorLine(null, invalidRequest(`a line is longer than ${limit} bytes`, 'line_too_long'))),
    maxLineBytes: DEFAULT_MAX_LINE,
  })

  /** Who does not read the answers need not ask more. */
  async function hold(): Promise<void> {
    if (paused) return
    paused = true
    input.pause()
    while (underWay.size >= MAX_UNDER_WAY) await Promise.race(underWay)
    if (output.blocked) await output.drained()
    paused = false
    input.resume()
  }

  input.on('data', (chunk: Buffer) => {
    splitter.push(chunk)
    if (output.blocked || underWay.size >= MAX_UNDER_WAY) void hold()
  })
  input.once('error', ending.resolve)
  input.once('end', () => {
    splitter.end()
    void settled().then(ending.resolve)
  })
  void output.broken.then(ending.resolve)

  /** What was asked is answered, but nobody is left to sign in. */
  async function settled(): Promise<void> {
    await within(FLUSH_MS, signIn.leave())
    await within(LAST_MS, Promise.all(underWay))
  }

  async function close(): Promise<void> {
    await ending.promise
    isRefusing = true
    await within(FLUSH_MS, signIn.leave())
    await within(FLUSH_MS, Promise.all(underWay))
    context.rooms.close()
    await output.flush(FLUSH_MS)
    input.destroy()
  }

  return {
    closed: close(),
    leave(reason) {
      isRefusing = true
      void sayLast(context, reason).then(ending.resolve)
    },
  }
}
