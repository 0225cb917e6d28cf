import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { openNew } from '../../src/agents/acp/handshake.ts'
import { NO_ABILITIES } from '../../src/agents/acp/request.ts'
import { idOf, request } from '../../src/agents/acp/rpc.ts'
import { open as openThread } from '../../src/agents/codex/opening.ts'
import { uuid } from '../../src/core/ids.ts'
import type { Session } from '../../src/core/session.ts'
import { createLineSplitter } from '../../src/transports/ndjson.ts'
import type { AgentHome } from '../../test/support/agent-home.ts'
import { aSession } from '../../test/support/session.ts'
import type { RealAgent } from './agents.ts'
import type { Exchange } from './codecast.ts'
import { end, type Workshop } from './workshop.ts'

/** An agent's own process over plain pipes, with the arguments that the daemon gives it and nobody in between. */
export interface BareAgent {
  readonly pid: number
  /** Resolves at the end of the turn; times are from `sent`. */
  turn(message: string, sent?: number): Promise<Exchange>
  /** Ends it as an agent without anything more to do. */
  close(): Promise<void>
}

/** The little that has to be known of an agent's protocol to send a message and to see its answer go by. */
interface Speech {
  /** Opens a conversation, which the session is in from then on. */
  open(pipe: Pipe, session: Session): Promise<Session>
  prompt(session: Session, turnId: string, text: string): string[]
  /** In a line that has a piece of the answer. */
  readonly piece: string
  /** In the line that ends the turn. */
  last(turnId: string): string
}

interface Pipe {
  write(lines: string[]): void
  /** The next line that contains this. */
  until(mark: string): Promise<string>
  /** Every line from now on, as long as it returns true. */
  listen(wantsMore: (line: Buffer) => boolean): Promise<void>
}

/** `patch` and `ids` make another session of it: the one that is to be continued. */
export async function openBare(
  shop: Workshop,
  agent: RealAgent,
  home: AgentHome,
  patch: Partial<Session> = {},
  ids: () => string = uuid,
): Promise<BareAgent> {
  const fresh = aSession({ id: uuid(), agent: agent.name, mode: 'auto', cwd: home.work, ...patch })
  const detection = { name: agent.name, installed: true, path: agent.path, version: null, problem: null }
  const plan = agent.driver.plan(fresh, detection, ids)
  const child = shop.spawn(plan.command, plan.args, { cwd: plan.cwd, env: { ...home.env, ...plan.env } })
  const gone = once(child, 'exit')
  child.stderr!.resume()
  const pipe = pipeOf(child)
  const speech = speechOf(agent)
  pipe.write(plan.greeting)
  const session = await speech.open(pipe, fresh)
  return {
    pid: child.pid!,
    async turn(message, sent = performance.now()) {
      const turnId = uuid()
      const last = speech.last(turnId)
      let [firstMs, endMs] = [0, 0]
      const over = pipe.listen((line) => {
        if (firstMs === 0 && line.includes(speech.piece)) firstMs = performance.now() - sent
        if (line.includes(last)) endMs = performance.now() - sent
        return endMs === 0
      })
      pipe.write(speech.prompt(session, turnId, message))
      await over
      if (firstMs === 0) throw new Error(`${agent.title} had no answer`)
      return { firstMs, endMs }
    },
    async close() {
      child.stdin!.end()
      // Claude writes its conversation down before it ends; not every agent minds the end of its input.
      await (agent.name === 'claude' ? gone : end(child))
    },
  }
}

function pipeOf(child: ChildProcess): Pipe {
  let hear: (line: Buffer) => void = () => undefined
  let fail: (error: Error) => void = () => undefined
  let last: Buffer = Buffer.alloc(0)
  const split = createLineSplitter({
    onLine(line) {
      last = line
      hear(line)
    },
  })
  child.stdout!.on('data', (bytes: Buffer) => split.push(bytes))
  child.once('exit', () => fail(new Error(`the agent ended after: ${last.toString().slice(0, 500)}`)))

  function listen(wantsMore: (line: Buffer) => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      fail = reject
      hear = (line) => {
        if (wantsMore(line)) return
        hear = () => undefined
        resolve()
      }
    })
  }

  return {
    listen,
    write(lines) {
      if (lines.length > 0) child.stdin!.write(lines.map((line) => `${line}\n`).join(''))
    },
    async until(mark) {
      let found = ''
      await listen((line) => {
        if (line.includes(mark)) found = line.toString()
        return found === ''
      })
      return found
    },
  }
}

function speechOf({ name, driver }: RealAgent): Speech {
  const encoded: Speech['prompt'] = (session, turnId, text) =>
    driver.encode({ kind: 'prompt', turnId, input: [{ type: 'text', text }] }, session)
  if (name === 'claude') {
    return {
      open: async (_, session) => session,
      prompt: encoded,
      piece: '"type":"text_delta"',
      last: () => '"type":"result"',
    }
  }
  return name === 'codex' ? codexSpeech(encoded) : ACP
}

function codexSpeech(prompt: Speech['prompt']): Speech {
  return {
    async open(pipe, session) {
      await pipe.until(`"id":"${session.id}:account"`)
      pipe.write([openThread(session, true)])
      const { result } = JSON.parse(await pipe.until(`"id":"${session.id}:open"`)) as {
        result: { thread: { id: string } }
      }
      return { ...session, nativeId: result.thread.id }
    },
    prompt,
    piece: '"method":"item/agentMessage/delta"',
    last: () => '"method":"turn/completed"',
  }
}

/** Without the marks that Corral puts around a message. */
const ACP: Speech = {
  async open(pipe, session) {
    await pipe.until('"id":"initialize"')
    pipe.write([openNew(session, NO_ABILITIES)])
    const { result } = JSON.parse(await pipe.until('"id":"open:new"')) as { result: { sessionId: string } }
    return { ...session, nativeId: result.sessionId }
  },
  prompt: ({ nativeId: sessionId }, turnId, text) => [
    request(idOf('prompt', turnId), 'session/prompt', { sessionId, prompt: [{ type: 'text', text }] }),
  ],
  piece: '"agent_message_chunk"',
  last: (turnId) => `"id":"${idOf('prompt', turnId)}"`,
}
