import { useEffect, useRef, useState } from 'preact/hooks'
import { BulkBar } from '../parts/bulk-answer.tsx'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { Icon } from '../parts/icon.tsx'
import { InboxItem, WhoAsks } from '../parts/inbox-item.tsx'
import { lazy } from '../parts/lazy.tsx'
import { hasLostFocus, useListFocus } from '../parts/list-focus.ts'
import { Page } from '../parts/page.tsx'
import { SnoozeDialog } from '../parts/snooze-dialog.tsx'
import { tellAnsweredElsewhere } from '../parts/answered-elsewhere.ts'
import { pressAnswer, useKeys } from '../parts/use-keys.ts'
import { defer } from '../state/approval-actions.ts'
import { chosen, current, inbox, keepPlace, stepBy, tab, toggleChosen } from '../state/inbox-view.ts'
import { keyOf } from '../state/keys.ts'
import { go } from '../state/router.ts'
import { waiting } from '../state/counts.ts'
import { counts } from '../state/sessions.ts'
import { whenBack } from '../state/snooze.ts'
import { visibleLine } from '../state/visible-text.ts'
import { type Approval, subjectOf } from '../state/who.ts'

const DecisionHistory = lazy(
  'history',
  async () => (await import('../parts/decision-history.tsx')).DecisionHistory,
)

/** Beyond these the list goes on when wanted: each is a card with everything on it. */
const AT_ONCE = 30

/** Every decision that waits for a person, over all sessions. */
export function InboxPage() {
  const [putOff, setPutOff] = useState<Approval | null>(null)
  useEffect(() => tellAnsweredElsewhere(), [])
  useEffect(
    () => () => {
      current.value = null
      chosen.value = new Set()
    },
    [],
  )
  useInboxKeys(setPutOff)
  return (
    <Page title="Inbox" actions={<Tabs />}>
      {tab.value === 'open' ? <Open /> : <DecisionHistory />}
      {putOff && (
        <SnoozeDialog
          title="Not now"
          choose={(until) => defer(putOff, until)}
          onClose={() => setPutOff(null)}
        />
      )}
    </Page>
  )
}

function Tabs() {
  const open = waiting.value
  return (
    <div class="inbox-tabs" role="group" aria-label="Which decisions">
      <Button
        label={open > 0 ? `Open (${open})` : 'Open'}
        pressed={tab.value === 'open'}
        onClick={() => (tab.value = 'open')}
      />
      <Button
        icon="history"
        label="History"
        pressed={tab.value === 'history'}
        shortcut={keyOf('inbox', 'history')}
        onClick={() => (tab.value = 'history')}
      />
    </div>
  )
}

function useInboxKeys(putOff: (approval: Approval) => void): void {
  const found = (): Approval | undefined => inbox.value?.open.find(({ id }) => id === current.value?.id)
  const withCurrent = (act: (approval: Approval) => void) => (): boolean => {
    const approval = found()
    if (approval) act(approval)
    return approval !== undefined
  }
  useKeys('inbox', {
    next: () => stepBy(1),
    previous: () => stepBy(-1),
    open: withCurrent(({ sessionId }) => go({ page: 'session', id: sessionId })),
    select: withCurrent(({ id }) => toggleChosen(id)),
    defer: withCurrent(putOff),
    history: () => void (tab.value = tab.value === 'open' ? 'history' : 'open'),
    leave() {
      if (chosen.value.size === 0) return false
      chosen.value = new Set()
      return true
    },
  })
  const answer = (number: number) => (): boolean => {
    const approval = found()
    return (
      approval !== undefined &&
      pressAnswer(document.querySelector(`[data-inbox="${CSS.escape(approval.id)}"]`), number)
    )
  }
  useKeys('decision', {
    answer1: answer(1),
    answer2: answer(2),
    answer3: answer(3),
    answer4: answer(4),
    answer5: answer(5),
  })
}

function Open() {
  const [shown, setShown] = useState(AT_ONCE)
  const all = inbox.value
  const list = useRef<HTMLDivElement>(null)
  useListFocus(list)
  useEffect(() => keepPlace(hasLostFocus()), [all])
  if (all === null) return <Skeleton />
  const { open, deferred } = all
  return (
    <div class="inbox" ref={list}>
      <p class="aside" role="status">
        {open.length} open decisions.
      </p>
      {open.length === 0 && <Nothing />}
      {open.slice(0, shown).map((approval) => (
        <InboxItem key={approval.id} approval={approval} />
      ))}
      {open.length > shown && (
        <Button
          label={`Show ${Math.min(AT_ONCE, open.length - shown)} more of ${open.length}`}
          onClick={() => setShown(shown + AT_ONCE)}
        />
      )}
      {deferred.length > 0 && <Deferred deferred={deferred} />}
      <BulkBar open={open} />
    </div>
  )
}

function Nothing() {
  const { working } = counts.value
  return (
    <Empty icon="inbox" title="No decision waits for you" actions={<a href="/">Go to Now</a>}>
      {working > 0
        ? `${working === 1 ? 'One session is' : `${working} sessions are`} working. What they ask for comes here at once.`
        : 'When an agent asks for something, it comes here, from every session.'}
    </Empty>
  )
}

function Deferred({ deferred }: { deferred: readonly Approval[] }) {
  return (
    <details class="deferred">
      <summary>
        <Icon name="clock" /> Not now <span class="group-count numbers">{deferred.length}</span>
      </summary>
      <ul>
        {deferred.map((approval) => (
          <li key={approval.id} class="deferred-item">
            <WhoAsks approval={approval} />
            <code class="deferred-what">{visibleLine(subjectOf(approval))}</code>
            <span class="muted small">back {whenBack(approval.deferredUntil!, Date.now())}</span>
            <Button kind="quiet" icon="undo-2" label="Bring back" onClick={() => defer(approval, null)} />
          </li>
        ))}
      </ul>
    </details>
  )
}

function Skeleton() {
  return (
    <div class="inbox" role="status" aria-label="Loading the decisions">
      <div class="skeleton inbox-skeleton" />
      <div class="skeleton inbox-skeleton" />
    </div>
  )
}
