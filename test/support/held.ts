import { connect, type NativeClient } from '../../src/dialects/native/client.ts'
import type { TestDaemon } from './daemon.ts'
import type { TestEngine } from './engine.ts'

/** Says a message for the demo agent whose turn lasts, on however slow a machine, until `goOn`: it waits for an answer. */
export const HELD = '[[ask May I go on?]]'

const WAIT_MS = 30_000

/** A session whose turns can be held; agents of those that are made over Codecast ask nobody. */
export async function sessionToHold(where: TestEngine | TestDaemon): Promise<string> {
  if ('engine' in where) return (await where.engine.create({ agent: 'demo', cwd: where.cwd })).id
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
    const [open] = await asked(() => engine.approvals({ sessionId, open: true, limit: 1 }))
    await engine.decide({ approvalId: open!.id, decision: { behavior: 'respond', text: next }, by: 'test' })
    return
  }
  await withClient(where, async (client) => {
    const [open] = await asked(
      async () => (await client.call('approval.list', { sessionId, open: true })).approvals,
    )
    await client.call('approval.decide', { approvalId: open!.id, behavior: 'respond', text: next })
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

async function asked<T>(look: () => T[] | Promise<T[]>): Promise<T[]> {
  for (const until = Date.now() + WAIT_MS; Date.now() < until;) {
    const found = await look()
    if (found.length > 0) return found
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error('the turn never asked')
}
