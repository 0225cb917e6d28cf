import { useEffect, useState } from 'preact/hooks'
import type { ApprovalContext } from '../state/answers.ts'
import { contextOf } from '../state/deciding.ts'

/** Why it is asked, and what the answers would come to; null until the daemon has told. */
export function useDecisionContext(approvalId: string): ApprovalContext | null {
  const [context, setContext] = useState<ApprovalContext | null>(null)
  useEffect(() => {
    let isOver = false
    void contextOf(approvalId).then((found) => !isOver && setContext(found))
    return () => void (isOver = true)
  }, [approvalId])
  return context
}
