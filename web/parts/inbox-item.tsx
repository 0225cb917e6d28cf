import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { pathOf } from '../route.ts'
import { answered } from '../state/approvals.ts'
import { defer } from '../state/approval-actions.ts'
import { beAt, chosen, current, toggleChosen } from '../state/inbox-view.ts'
import { withoutMarkup } from '../state/row-words.ts'
import { titleOf } from '../state/session-actions.ts'
import { placeName } from '../state/session-list.ts'
import { rowOf } from '../state/sessions.ts'
import { laterThan } from '../state/snooze.ts'
import { visible, visibleLine } from '../state/visible-text.ts'
import { type Approval, subjectOf } from '../state/who.ts'
import type { ApprovalContext } from '../state/answers.ts'
import { DecisionCard } from './decision.tsx'
import { useDecisionContext } from './decision-context.ts'
import { Icon } from './icon.tsx'
import { Menu } from './menu.tsx'
import { Time } from './time.tsx'

/** A decision that waits: who asks, why, what for, and every way to answer. */
export function InboxItem({ approval }: { approval: Approval }) {
  const root = useRef<HTMLElement>(null)
  const context = useDecisionContext(approval.id)
  const isCurrent = current.value?.id === approval.id
  const seek = isCurrent ? current.value!.seek : 0
  const isChosen = chosen.value.has(approval.id)
  // Before the next key: a focus that comes later would take the place in the list back here.
  useLayoutEffect(() => {
    if (seek > 0) root.current?.focus()
  }, [seek])
  useEffect(() => root.current?.querySelector('.decision-effects')?.setAttribute('open', ''), [context])
  return (
    <article
      ref={root}
      class="inbox-item"
      tabIndex={-1}
      data-inbox={approval.id}
      data-current={isCurrent || undefined}
      aria-label={`Decision: ${visibleLine(subjectOf(approval)).slice(0, 200)}`}
      onFocusIn={() => beAt(approval.id)}
    >
      <header class="inbox-head">
        <label class="inbox-check">
          <input
            type="checkbox"
            checked={isChosen}
            aria-label="Select, to answer several alike"
            onChange={() => toggleChosen(approval.id)}
          />
        </label>
        <WhoAsks approval={approval} context={context} />
        <Menu kind="quiet" icon="clock" label="Not now" items={laterItems(approval)} />
      </header>
      <Why context={context} />
      <DecisionCard
        approval={approval}
        context={context}
        swiped={root}
        onDecided={() => answered(approval.id)}
      />
    </article>
  )
}

export function laterItems(approval: Approval) {
  return laterThan(Date.now()).map(({ label, at }) => ({ label, run: () => defer(approval, at) }))
}

/** The session, the sub-agent, the place. */
export function WhoAsks({ approval, context }: { approval: Approval; context?: ApprovalContext | null }) {
  const row = rowOf(approval.sessionId)
  const helper = context?.subagent
  return (
    <div class="inbox-who">
      <a class="inbox-session" href={pathOf({ page: 'session', id: approval.sessionId })}>
        {row ? titleOf(row) : 'A session'}
      </a>
      {helper && (
        <span class="inbox-helper">
          <Icon name="git-fork" label="Sub-agent" /> {visibleLine(helper.title)}
        </span>
      )}
      <span class="muted" title={row?.cwd}>
        {row && `${row.agent} · ${placeName(row)} · `}
        <Time at={approval.requestedAt} />
      </span>
    </div>
  )
}

/** What the agent said before it asked. */
function Why({ context }: { context: ApprovalContext | null }) {
  if (!context || context.lines.length === 0) return null
  return (
    <blockquote class="inbox-why" aria-label="What the agent said before it asked" tabIndex={0}>
      {visible(context.lines.map(withoutMarkup).join('\n'))}
    </blockquote>
  )
}
