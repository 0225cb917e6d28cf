import { spawn } from 'node:child_process'
import { Readable, Writable } from 'node:stream'
import { client, methods, ndJsonStream, type SessionUpdate } from '@agentclientprotocol/sdk/unstable'
import type { CallState } from '../../../src/core/conversation/item.ts'
import { MAIN } from '../../support/program.ts'
import { createTeller, type Told } from '../told.ts'
import type { View } from '../view.ts'
import type { World } from '../world.ts'

const STATES: Record<string, CallState> = {
  pending: 'asked',
  in_progress: 'running',
  completed: 'done',
  failed: 'failed',
}

function toldBy(updates: readonly SessionUpdate[]): Told[] {
  const teller = createTeller()
  let last = ''
  for (const update of updates) {
    const { sessionUpdate } = update
    // A word of Corral's own, as about a turn that failed, is no message.
    if (!('messageId' in update) && sessionUpdate === 'agent_message_chunk') continue
    if (sessionUpdate === 'user_message_chunk' || sessionUpdate === 'agent_message_chunk') {
      const text = update.content.type === 'text' ? update.content.text : ''
      const id = `${sessionUpdate} ${update.messageId}`
      const before = id === last ? teller.told.pop() : null
      last = id
      const whole = before && 'text' in before ? before.text + text : text
      if (sessionUpdate === 'user_message_chunk') teller.add({ what: 'user', text: whole })
      else teller.add({ what: 'answer', text: whole, aborted: false })
    } else if (sessionUpdate === 'tool_call' || sessionUpdate === 'tool_call_update') {
      last = ''
      const { toolCallId, status } = update
      const name = 'name' in update ? { tool: update.name as string } : {}
      teller.call(toolCallId, { ...name, ...(status && { state: STATES[status]! }) })
    }
  }
  return teller.told
}

/** An editor that shows many sessions and answers no question. */
function openEditor({ env, project }: World['daemon']) {
  const child = spawn(process.execPath, [MAIN, 'acp', '--agent', 'demo'], { env, cwd: project })
  const exited = new Promise((resolve) => child.once('close', resolve))
  child.stdin.on('error', () => {})
  child.stderr.resume()
  const updates = new Map<string, SessionUpdate[]>()
  const app = client({ name: 'claim' })
    .onNotification(methods.client.session.update, ({ params }) => {
      const list = updates.get(params.sessionId) ?? []
      updates.set(params.sessionId, list)
      list.push(params.update)
    })
    .onRequest(methods.client.session.requestPermission, () => new Promise(() => {}))
  const { agent } = app.connect(
    ndJsonStream(
      Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
      Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
    ),
  )
  const ready = agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} })
  return {
    of: (sessionId: string): Told[] => toldBy(updates.get(sessionId) ?? []),
    forget: (sessionId: string) => void updates.delete(sessionId),
    async load(sessionId: string) {
      await ready
      await agent.request(methods.agent.session.load, { sessionId, cwd: project, mcpServers: [] })
    },
    async close() {
      child.stdin.destroy()
      child.kill('SIGKILL')
      await exited
    },
  }
}

export function acpViews(world: World): { views: View[]; watch(sessionId: string): Promise<void> } {
  const live = openEditor(world.daemon)
  const later = openEditor(world.daemon)
  world.join({
    back: async () => {},
    close: async () => void (await Promise.all([live.close(), later.close()])),
  })
  // Ends are answers to prompts, which are another client's here; questions are asked and their answers are not told.
  const silence = {
    never: ['end', 'decision'],
    aborted: true,
    helpers: true,
    states: { refused: 'failed' },
  } as const
  return {
    watch: (sessionId) => live.load(sessionId),
    views: [
      {
        name: 'ACP updates',
        silence,
        live: true,
        read: async ({ sessionId, played }) => (sessionId === played.sessionId ? live.of(sessionId) : null),
      },
      {
        name: 'ACP load',
        silence,
        forgets: true,
        async read({ sessionId }) {
          later.forget(sessionId)
          await later.load(sessionId)
          return later.of(sessionId)
        },
      },
    ],
  }
}
