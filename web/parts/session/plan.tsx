import { useState } from 'preact/hooks'
import type { PlanEntry } from '../../../src/core/event.ts'
import { Icon } from '../icon.tsx'
import { inert, inertLine } from '../inert.ts'

const SIGNS = { pending: 'circle-dot', active: 'play', done: 'circle-check' } as const
const SPOKEN = { pending: 'to do', active: 'being done', done: 'done' } as const

/** The agent's plan as it is now: one line, that opens into all of it. Gone when all of it is done and nothing runs. */
export function Plan({ entries, isRunning }: { entries: readonly PlanEntry[] | null; isRunning: boolean }) {
  const [open, setOpen] = useState(false)
  if (!entries || entries.length === 0) return null
  const done = entries.filter(({ state }) => state === 'done').length
  if (done === entries.length && !isRunning) return null
  const now =
    entries.find(({ state }) => state === 'active') ?? entries.find(({ state }) => state === 'pending')
  return (
    <section class="plan" aria-label="Plan">
      <button type="button" class="entry-line" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={open ? 'chevron-down' : 'chevron-right'} />
        <Icon name="list" />
        <span class="entry-verb numbers">
          Plan {done}/{entries.length}
        </span>
        {!open && now && <span class="entry-subject">{inertLine(now.text)}</span>}
      </button>
      {open && (
        <ol class="plan-entries">
          {entries.map(({ text, state }, at) => (
            <li key={at} data-state={state}>
              <Icon name={SIGNS[state]} label={SPOKEN[state]} />
              {inert(text)}
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}
