import { uuid } from '../../core/ids.ts'
import type { Mode } from '../../core/mode.ts'
import type { Corral } from '../../dialects/acp/port.ts'
import type { NativeClient } from '../../client/client.ts'
import { text, type Cli, type Command } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { insisting } from '../insisting.ts'
import { setup } from '../options.ts'
import { sessionEvents } from '../session-events.ts'
import { version } from '../version.ts'

/** How long a request of the editor waits for a daemon that is not reachable. A running turn is waited for without a limit. */
const CALL_MS = 30_000
/** How long the process may go on when its editor has gone. */
const EXIT_MS = 500
const ORIGIN = 'acp'

export const acp: Command = async (cli) => {
  const defaults = { agent: text(cli.options['agent']), ...setup(cli.options) }
  if (cli.options['start']) await (await import('../starting.ts')).ensureDaemon(cli)
  await cli.withDaemon(
    (calls) =>
      cli.withDaemon((feed) => attend(cli, corralOf(calls, feed, defaults)), {
        reconnect: true,
        giveUpMs: Infinity,
      }),
    { reconnect: true, giveUpMs: CALL_MS },
  )
  setTimeout(() => process.exit(), EXIT_MS).unref()
  return EXIT.ok
}

/** Serves the editor until it has gone. */
async function attend(cli: Cli, corral: Corral): Promise<void> {
  const { serve } = await import('../../dialects/acp/agent.ts')
  const streams = { input: cli.stdin, output: cli.stdout }
  const { closed, signal } = serve({ corral, version, ...streams, newKey: () => uuid() })
  await closed
  const { name, message } = signal.reason as Error
  if (name === 'MessageTooLargeError') throw new CliError(message)
}

/** What new sessions begin with. */
interface Defaults {
  agent: string | undefined
  mode?: Mode
  model?: string
}

function corralOf(calls: NativeClient, feed: NativeClient, { agent, mode, model }: Defaults): Corral {
  return {
    create: async (wish) =>
      calls.call('session.create', {
        ...wish,
        agent: agent ?? (await defaultAgent(calls)),
        ...(mode !== undefined && { mode }),
        ...(model !== undefined && { model }),
        key: uuid(),
        origin: ORIGIN,
      }),
    fork: (sessionId) => calls.call('session.fork', { sessionId, key: uuid(), origin: ORIGIN }),
    session: (sessionId) => calls.call('session.get', { sessionId }),
    sessions: (cursor) => calls.call('session.list', { archived: false, ...(cursor !== null && { cursor }) }),
    async models(name) {
      const [{ models }, { sessions }] = await Promise.all([
        calls.call('agents.models', { agent: name }),
        calls.call('session.list', { agent: name, limit: 100 }),
      ])
      const used = [model, ...sessions.map((session) => session.model)].filter((id) => typeof id === 'string')
      const others = [...new Set(used)].filter((id) => !models.some((told) => told.id === id))
      return [...models, ...others.map((id) => ({ id, name: id }))]
    },
    async lastMessage(sessionId) {
      const { turns } = await calls.call('turn.list', { sessionId, limit: 1 })
      return turns[0]?.input ?? []
    },
    configure: (sessionId, patch) =>
      insisting(() => calls.call('session.configure', { sessionId, ...patch })),
    destroy: async (sessionId) => void (await insisting(() => calls.call('session.destroy', { sessionId }))),
    async send(sessionId, content, key) {
      return (await calls.call('session.send', { sessionId, content, key, origin: ORIGIN })).turnId
    },
    turn: (turnId) => calls.call('turn.get', { turnId }),
    async interrupt(sessionId, turnId) {
      const wish = { sessionId, ...(turnId !== undefined && { turnId }) }
      await insisting(() => calls.call('session.interrupt', wish))
    },
    decide: async (approvalId, answer) =>
      void (await insisting(() => calls.call('approval.decide', { approvalId, ...answer, by: ORIGIN }))),
    ...sessionEvents(calls, feed),
  }
}

async function defaultAgent(calls: NativeClient): Promise<string> {
  const { agents } = await calls.call('agents.list')
  return agents.some(({ name, installed }) => name === 'claude' && installed) ? 'claude' : 'demo'
}
