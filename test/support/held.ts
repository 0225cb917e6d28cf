import { connect, type NativeClient } from '../../src/client/client.ts'
import type { TestDaemon } from './daemon.ts'
import type { TestEngine } from './engine.ts'
import { until } from './wait.ts'

/** Says a message for the demo agent whose turn lasts, on however slow a machine, until `goOn`: it waits for an answer. */
export const HELD = '[[ask May I go on?]]'

const ASKED = 'the held turn asks whether it may go on'

/** A session whose turns can be held; agents of those that are made over Codecast ask nobody. */
export async function sessionToHold(where: TestEngine | TestDaemon): Promise<string> {
  if ('engine' in where) return (await where.engine.sessions.create({ agent: 'demo', cwd: where.cwd })).id
  return withClient(
    where,
    async (client) => (await client.call('session.create', { agent: 'demo', cwd: where.project })).id,
  )
}

/** Answers the question that a held turn waits with. The agent does what the answer says next. */
export async function goOn(
  where: TestEngine | TestDaemon,
  sessionId: string,
  next = '[[say gone on]]',
): Promise<void> {
  if ('engine' in where) {
    const { engine } = where
    const open = await until(() => engine.approvals.list({ sessionId, open: true, limit: 1 })[0], ASKED)
    await engine.approvals.decide({
      approvalId: open.id,
      decision: { behavior: 'respond', text: next },
      by: 'test',
    })
    return
  }
  await withClient(where, async (client) => {
    const look = () => client.call('approval.list', { sessionId, open: true })
    const open = await until(async () => (await look()).approvals[0], ASKED)
    await client.call('approval.decide', { approvalId: open.id, behavior: 'respond', text: next })
  })
}

async function withClient<T>({ socket }: TestDaemon, work: (client: NativeClient) => Promise<T>): Promise<T> {
  const client = await connect(socket)
  try {
    return await work(client)
  } finally {
    client.close()
  }
}
