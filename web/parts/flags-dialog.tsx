import { useEffect, useRef, useState } from 'preact/hooks'
import { MAX_FLAG, MAX_FLAGS } from '../../src/core/marks.ts'
import { setFlags, titleOf } from '../state/session-actions.ts'
import { rowOf, sessions } from '../state/sessions.ts'
import type { SessionRow } from '../client/rows.ts'
import { visibleLine } from '../state/visible-text.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Field } from './field.tsx'

/** The flags of a session: those that are in use anywhere, and new ones. Each counts at once. */
export function FlagsDialog({ id, onClose }: { id: string; onClose(): void }) {
  const [typed, setTyped] = useState('')
  const row = rowOf(id)
  const [has, set] = useFlags(row)
  if (!row) return null
  const isFull = has.size >= MAX_FLAGS

  function add(event: Event): void {
    event.preventDefault()
    const flag = typed.trim()
    if (flag === '' || isFull) return
    set([...has, flag])
    setTyped('')
  }

  return (
    <Dialog title={`Flags of ${visibleLine(titleOf(row))}`} onClose={onClose}>
      <ul class="flag-list">
        {inUse().map((flag) => (
          <li key={flag}>
            <label class="flag-choice">
              <input
                type="checkbox"
                checked={has.has(flag)}
                disabled={isFull && !has.has(flag)}
                onChange={() => set(has.has(flag) ? [...has].filter((one) => one !== flag) : [...has, flag])}
              />
              {visibleLine(flag)}
            </label>
          </li>
        ))}
      </ul>
      <form class="flag-new" onSubmit={add}>
        <Field label="New flag" {...(isFull && { hint: `At most ${MAX_FLAGS}: take one off first.` })}>
          {(control) => (
            <input
              {...control}
              class="input"
              maxLength={MAX_FLAG}
              value={typed}
              onInput={({ currentTarget }) => setTyped(currentTarget.value)}
            />
          )}
        </Field>
        <Button kind="primary" type="submit" label="Add" disabled={isFull || typed.trim() === ''} />
      </form>
    </Dialog>
  )
}

/** What was chosen here counts at once, for the next choice as well: the daemon's word for it comes later. */
function useFlags(row: SessionRow | null): [has: ReadonlySet<string>, set: (flags: string[]) => void] {
  const [chosen, setChosen] = useState<readonly string[] | null>(null)
  const open = useRef(0)
  const known = row?.marks.flags.join('\n')
  useEffect(() => {
    if (open.current === 0) setChosen(null)
  }, [known])
  async function set(flags: string[]): Promise<void> {
    open.current += 1
    setChosen(flags)
    const isSet = await setFlags(row!, flags)
    open.current -= 1
    const isTold = rowOf(row!.id)?.marks.flags.join('\n') === flags.join('\n')
    if (open.current === 0 && (!isSet || isTold)) setChosen(null)
  }
  return [new Set(chosen ?? row?.marks.flags), (flags) => void set(flags)]
}

/** Of all sessions, by name. */
function inUse(): string[] {
  const rows = [...(sessions.value?.rows.values() ?? [])]
  return [...new Set(rows.flatMap(({ marks }) => marks.flags))].sort((a, b) => a.localeCompare(b))
}
