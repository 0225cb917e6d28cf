import { useEffect, useRef, useState } from 'preact/hooks'
import type { SessionView } from '../../src/dialects/native/wire.ts'
import { Button } from '../parts/button.tsx'
import { Composer } from '../parts/composer/composer.tsx'
import { Empty } from '../parts/empty.tsx'
import { Page } from '../parts/page.tsx'
import { Conversation, type ConversationHandle } from '../parts/session/conversation.tsx'
import { useDecisionKeys } from '../parts/session/decision-keys.ts'
import { Find } from '../parts/session/find.tsx'
import { Header } from '../parts/session/header.tsx'
import { Plan } from '../parts/session/plan.tsx'
import { Queue } from '../parts/session/queue.tsx'
import { Unmerged } from '../parts/session/unmerged.tsx'
import { Spinner } from '../parts/spinner.tsx'
import { abilitiesOf } from '../state/abilities.ts'
import { fork } from '../state/configuring.ts'
import { keepAboveKeyboard } from '../state/keyboard-inset.ts'
import { interruptSession } from '../state/sending.ts'
import { OpenSession } from '../state/session.ts'
import { Unsent } from '../state/unsent.ts'

export function SessionPage({ id }: { id: string }) {
  const [session, setSession] = useState<OpenSession | null>(null)
  useEffect(() => {
    const opened = new OpenSession(id)
    setSession(opened)
    return () => opened.close()
  }, [id])
  useEffect(keepAboveKeyboard, [])
  if (!session) return null
  const view = session.view.value
  switch (session.phase.value) {
    case 'gone':
      return <Gone />
    case 'failed':
      return <Failed problem={session.problem.value} />
    default:
      return view ? <Session session={session} view={view} /> : <Spinner label="Opening the session" />
  }
}

function Session({ session, view }: { session: OpenSession; view: SessionView }) {
  const [finding, setFinding] = useState(false)
  const conversation = useRef<ConversationHandle>(null)
  const [unsent, setUnsent] = useState<Unsent | null>(null)
  useEffect(() => {
    const opened = new Unsent(session)
    setUnsent(opened)
    return () => opened.close()
  }, [session])
  useKeys(session, finding, () => setFinding(true))
  useDecisionKeys()
  const canSteer = abilitiesOf(view.agent)?.steer ?? false
  return (
    <div class="session">
      <Header session={session} view={view} onFind={() => setFinding(true)} onFork={() => fork(view.id)} />
      {finding && (
        <Find
          sessionId={view.id}
          onGo={(hit) => void conversation.current?.show(hit.seq, hit.turnId)}
          onClose={() => {
            setFinding(false)
            conversation.current?.focus()
          }}
        />
      )}
      <Conversation
        handle={conversation}
        session={session}
        view={view}
        onReuse={(text) => unsent?.type(text)}
      />
      <Announcement view={view} />
      <div class="session-dock">
        <Plan entries={session.plan.value} isRunning={session.turn.value !== null} />
        <Queue session={session} canSteer={canSteer} />
        <Unmerged view={view} />
        {unsent && <Composer session={session} unsent={unsent} view={view} />}
      </div>
    </div>
  )
}

/** For those who do not see it: only what ends their waiting. */
function Announcement({ view }: { view: SessionView }) {
  // A short turn has come and gone before anybody has seen it run.
  const state = `${view.status} ${view.turnCount}`
  const before = useRef(state)
  const [said, setSaid] = useState({ words: '', state })
  useEffect(() => {
    if (before.current === state) return
    before.current = state
    setSaid({ words: announcementOf(view), state })
  }, [state])
  return (
    <p class="aside" role="status">
      {/* Another element is read out, even if it says the same. */}
      <span key={said.state}>{said.words}</span>
    </p>
  )
}

function announcementOf({ status, lastOutcome }: SessionView): string {
  if (status === 'waiting') return 'The agent waits for your decision.'
  return status === 'idle' ? ENDINGS[lastOutcome ?? 'completed'] : ''
}

const ENDINGS = {
  completed: 'The agent has finished.',
  failed: 'The turn has failed.',
  interrupted: 'The turn was stopped.',
} as const

/** Control and F finds in what is not on the page, too; a second time it is the browser's. Escape stops the turn. */
function useKeys(session: OpenSession, finding: boolean, onFind: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || document.querySelector('dialog[open]')) return
      const isFind = event.key === 'f' && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey
      if (isFind && !finding) {
        event.preventDefault()
        onFind()
      }
      // Held a little long, it has only closed what was open.
      const turn = session.turn.peek()
      if (event.key === 'Escape' && !event.repeat && turn) interruptSession(session.id, turn.id)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [session, finding])
}

function Gone() {
  const others = (
    <a class="button" href="/">
      All sessions
    </a>
  )
  return (
    <Page title="Session">
      <Empty icon="message-square" title="There is no such session" actions={others}>
        It was removed, or the address is wrong.
      </Empty>
    </Page>
  )
}

function Failed({ problem }: { problem: string | null }) {
  const again = <Button icon="refresh-cw" label="Try again" onClick={() => location.reload()} />
  return (
    <Page title="Session">
      <Empty icon="circle-alert" title="The session could not be opened" actions={again}>
        {problem}
      </Empty>
    </Page>
  )
}
