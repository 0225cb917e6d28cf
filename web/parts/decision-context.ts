import { useEffect, useState } from 'preact/hooks'
import type { Api } from '../client/client.ts'
import { client } from '../state/connection.ts'

export type DecisionContext = Api['approval.context']['result']

/** Why it is asked, and what the answers would come to; undefined until the daemon has told. */
export function useDecisionContext(approvalId: string): DecisionContext | undefined {
  const [context, setContext] = useState<DecisionContext>()
  useEffect(() => {
    let isOver = false
    client()
      .call('approval.context', { approvalId })
      .then(
        (found) => !isOver && setContext(found),
        () => {}, // the card can be answered without it
      )
    return () => void (isOver = true)
  }, [approvalId])
  return context
}
