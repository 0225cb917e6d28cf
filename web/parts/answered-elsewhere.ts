import { onAnsweredElsewhere } from '../state/approvals.ts'
import { outcomeOf, subjectOf, whoAnswered } from '../state/who.ts'
import { visibleLine } from '../state/visible-text.ts'
import { toast } from './toast.tsx'

const MAX_SUBJECT = 80

/** Says what somebody else has answered, while it would have been seen here. Returns how to stop. */
export function tellAnsweredElsewhere(): () => void {
  return onAnsweredElsewhere(({ approval, decision, by, device }) => {
    const subject = visibleLine(subjectOf(approval))
    const short = subject.length > MAX_SUBJECT ? `${subject.slice(0, MAX_SUBJECT)}…` : subject
    toast(`“${short}” was ${outcomeOf(decision)} by ${whoAnswered(by, device)}.`)
  })
}
