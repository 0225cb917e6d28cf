import type { Approval } from '../state/who.ts'
import type { DecisionContext } from './decision-context.ts'
import { Button } from './button.tsx'
import { client } from '../state/connection.ts'

/** A stand-in until the real card is there. */
export function DecisionCard({
  approval,
  onDecided,
}: {
  approval: Approval
  context?: DecisionContext | undefined
  onDecided?: () => void
}) {
  const decide = (more: object): void => {
    onDecided?.()
    void client().call('approval.decide', {
      approvalId: approval.id,
      by: 'dashboard',
      behavior: 'allow',
      ...more,
    } as never)
  }
  return (
    <div class="decision" data-approval={approval.id} tabIndex={-1}>
      <pre>{approval.about.subjects.join('\n') || approval.summary}</pre>
      <span data-answer="1" onClick={() => decide({})}>
        <Button label="Allow once" />
      </span>
      <span data-answer="4" onClick={() => decide({ behavior: 'deny', comment: '' })}>
        <Button label="Refuse" />
      </span>
    </div>
  )
}
