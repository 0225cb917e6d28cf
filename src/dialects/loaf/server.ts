import type { Readable, Writable } from 'node:stream'
import { createLineSplitter, DEFAULT_MAX_LINE } from '../../transports/ndjson.ts'
import { createChoices } from './choices.ts'
import { invalidRequest } from './errors.ts'
import { errorLine } from './framing.ts'
import type { Context } from './method.ts'
import { OpenSessions } from './open-sessions.ts'
import { createOutput, type Output } from './output.ts'
import type { Corral, Memory, SignIn } from './ports.ts'
import { Requests } from './requests.ts'
import { sayLast } from './snapshot.ts'
import { within } from './within.ts'

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
export function serve({ input, output: stdout, ...options }: ServerOptions): Server {
  const { corral, signIn, now } = options
  const output = createOutput(stdout, now)
  const ending = Promise.withResolvers<void>()
  const debug = { on: false }
  const context: Context = {
    ...options,
    output,
    sessions: new OpenSessions({ ...options, output, wantsDebug: () => debug.on }),
    choices: createChoices({ corral, signIn }),
    debug,
    waits: { signIns: 0 },
    refuseNew: () => void (requests.refusing = true),
    end: ending.resolve,
  }
  const requests = new Requests(context)

  async function close(): Promise<void> {
    await ending.promise
    requests.refusing = true
    await within(FLUSH_MS, signIn.leave())
    await within(FLUSH_MS, requests.answered())
    context.sessions.close()
    await output.flush(FLUSH_MS)
    input.destroy()
  }

  void readAll(input, output, requests).then(async () => {
    // What was asked is answered, but nobody is left to sign in.
    await within(FLUSH_MS, signIn.leave())
    await within(LAST_MS, requests.answered())
    ending.resolve()
  })
  input.once('error', ending.resolve)
  void output.broken.then(ending.resolve)

  return {
    closed: close(),
    leave(reason) {
      requests.refusing = true
      void sayLast(context, reason).then(ending.resolve)
    },
  }
}

/** Resolves when the client has closed its end, and not if that breaks. */
function readAll(input: Readable, output: Output, requests: Requests): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const splitter = createLineSplitter({
    onLine: (line) => requests.take(line),
    onOverflow(limit) {
      const data = { reason: 'invalid_request', kind: 'line_too_long' }
      output.line(errorLine(null, invalidRequest(`a line is longer than ${limit} bytes`, data)))
    },
    maxLineBytes: DEFAULT_MAX_LINE,
  })
  let paused = false

  /** Who does not read the answers need not ask more. */
  async function hold(): Promise<void> {
    paused = true
    input.pause()
    await requests.fewer()
    if (output.blocked) await output.drained()
    paused = false
    input.resume()
  }

  input.on('data', (chunk: Buffer) => {
    splitter.push(chunk)
    if (!paused && (output.blocked || requests.tooMany)) void hold()
  })
  input.once('end', () => {
    splitter.end()
    resolve()
  })
  return promise
}
