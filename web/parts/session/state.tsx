import type { SessionView } from '../../../src/dialects/native/wire.ts'
import { now } from '../../state/clock.ts'
import type { OpenSession } from '../../state/session.ts'
import { Elapsed } from '../elapsed.tsx'
import { inertLine } from '../inert.ts'
import { relative } from '../relative.ts'
import { toolWords } from '../tool.ts'

/** How it stands, in honest words: "Running 3m 12s, editing src/a.ts". */
export function StateLine({ session, view }: { session: OpenSession; view: SessionView }) {
  const turn = session.turn.value
  // Read, so that this is drawn again with every call.
  void session.order.value
  if (view.status === 'paused')
    return <Words tone="needs">Paused{turn ? ' in the middle of a turn' : ''}</Words>
  if (turn?.interrupting) return <Words tone="working">Stopping</Words>
  if (view.openApprovals > 0 && session.asking().length > 0)
    return <Words tone="needs">Waits for your decision</Words>
  if (turn) {
    return (
      <Words tone="working">
        Running {view.turn && <Elapsed since={view.turn.startedAt} label="since" />}
        {doing(session, view)}
      </Words>
    )
  }
  if (view.queued > 0) return <Words tone="working">Waiting to start</Words>
  return <Resting view={view} />
}

function doing(session: OpenSession, view: SessionView): string {
  if (session.compacting.value) return ', summing up its conversation'
  const row = session.running()
  if (row?.kind !== 'call') return ''
  const { doing: verb, subject } = toolWords(row, view.cwd)
  return `, ${verb.toLowerCase()} ${subject}`
}

function Resting({ view: { lastOutcome, lastError, turnCount, activeAt } }: { view: SessionView }) {
  // The clock of the page stands still between its ticks.
  const when = relative(activeAt, Math.max(activeAt, now.value))
  if (lastOutcome === 'failed')
    return <Words tone="bad">Failed{lastError ? `: ${inertLine(lastError.message)}` : ''}</Words>
  if (lastOutcome === 'interrupted') return <Words tone="plain">Stopped {when}</Words>
  if (lastOutcome === 'completed') return <Words tone="good">Done {when}</Words>
  return <Words tone="plain">{turnCount === 0 ? 'Nothing said yet' : `Idle since ${when}`}</Words>
}

type Tone = 'plain' | 'needs' | 'working' | 'good' | 'bad'

function Words({ tone, children }: { tone: Tone; children: preact.ComponentChildren }) {
  return (
    <span class={`state state-${tone}`}>
      <span class="state-dot" aria-hidden="true" />
      <span class="state-words">{children}</span>
    </span>
  )
}
