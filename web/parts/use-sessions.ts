import { useEffect, useRef, useState } from 'preact/hooks'
import { client } from '../state/connection.ts'

/** What a page says about a session that it only mentions. */
export interface Mentioned {
  name: string
  agent: string
  cwd: string
}

/** What was known last is shown until it is known anew. */
const known = new Map<string, Mentioned>()

/** Sessions by id, as they become known. One that is gone is not there. */
export function useSessions(ids: readonly string[]): ReadonlyMap<string, Mentioned> {
  const [, redraw] = useState(0)
  const asked = useRef(new Set<string>())
  const wanted = ids.filter((id) => !asked.current.has(id))
  useEffect(() => {
    for (const id of wanted) {
      asked.current.add(id)
      void learn(id).then(() => redraw((count) => count + 1))
    }
  }, [wanted.join()])
  return known
}

async function learn(sessionId: string): Promise<void> {
  try {
    const { title, cwd, agent } = await client().call('session.get', { sessionId })
    known.set(sessionId, { name: title || lastPart(cwd), agent, cwd })
  } catch {
    known.delete(sessionId)
  }
}

export function lastPart(path: string): string {
  return path.split('/').findLast((part) => part !== '') ?? path
}
