import { useState } from 'preact/hooks'
import { answerAll } from '../state/approval-actions.ts'
import { commonClass } from '../state/approval-list.ts'
import { chosen } from '../state/inbox-view.ts'
import { titleOf } from '../state/session-actions.ts'
import { rowOf } from '../state/sessions.ts'
import { visibleLine } from '../state/visible-text.ts'
import { type Approval, subjectOf } from '../state/who.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Field } from './field.tsx'

/** What one answer to several decisions is called, by what they are about. */
const CLASSES: Readonly<Record<string, string>> = {
  shell: 'commands',
  edit: 'edits',
  read: 'reads',
  fetch: 'requests to the network',
  search: 'searches',
  mcp: 'calls of MCP tools',
  other: 'calls',
}

/** Several decisions of one class can be answered alike, once it has been seen what that means. */
export function BulkBar({ open }: { open: readonly Approval[] }) {
  const [asking, setAsking] = useState<'allow' | 'deny' | null>(null)
  const picked = open.filter(({ id }) => chosen.value.has(id))
  if (picked.length === 0) return null
  const common = commonClass(picked)
  return (
    <div class="selection-bar" role="toolbar" aria-label="Selected decisions">
      <span class="selection-count" role="status">
        {picked.length} selected
      </span>
      {common === null ? (
        <span class="muted">Only decisions of one kind can be answered together.</span>
      ) : (
        <>
          <Button label="Allow once…" onClick={() => setAsking('allow')} />
          <Button kind="danger" label="Refuse…" onClick={() => setAsking('deny')} />
        </>
      )}
      <Button
        kind="quiet"
        icon="x"
        iconOnly
        label="Drop the selection"
        onClick={() => (chosen.value = new Set())}
      />
      {asking !== null && common !== null && (
        <BulkDialog
          behavior={asking}
          what={CLASSES[common] ?? 'calls'}
          picked={picked}
          onClose={() => setAsking(null)}
        />
      )}
    </div>
  )
}

function BulkDialog({
  behavior,
  what,
  picked,
  onClose,
}: {
  behavior: 'allow' | 'deny'
  what: string
  picked: readonly Approval[]
  onClose(): void
}) {
  const [words, setWords] = useState('')
  const isAllow = behavior === 'allow'
  const title = `${isAllow ? 'Allow' : 'Refuse'} ${picked.length} ${what}?`

  function answer(): void {
    onClose()
    chosen.value = new Set()
    void answerAll(picked, isAllow ? { behavior } : { behavior: 'deny', comment: words.trim() })
  }

  const actions = (
    <>
      <Button label="Cancel" onClick={onClose} />
      <Button
        kind={isAllow ? 'primary' : 'danger'}
        label={isAllow ? `Allow all ${picked.length} once` : `Refuse all ${picked.length}`}
        onClick={answer}
      />
    </>
  )
  return (
    <Dialog title={title} onClose={onClose} actions={actions}>
      <p>
        {isAllow
          ? 'Each of these happens once. No rule is made: the next one is asked about again.'
          : 'None of these happens, and each agent is told what you say.'}
      </p>
      <Picked picked={picked} />
      {!isAllow && (
        <Field label="Why (told to the agents)">
          {(control) => (
            <textarea
              {...control}
              class="input"
              rows={2}
              value={words}
              onInput={({ currentTarget }) => setWords(currentTarget.value)}
            />
          )}
        </Field>
      )}
    </Dialog>
  )
}

/** What it would mean, one by one. */
function Picked({ picked }: { picked: readonly Approval[] }) {
  return (
    <ul class="bulk-list">
      {picked.map((approval) => (
        <li key={approval.id}>
          <code>{visibleLine(subjectOf(approval))}</code>
          <span class="muted small">{sessionName(approval)}</span>
        </li>
      ))}
    </ul>
  )
}

function sessionName({ sessionId }: Approval): string {
  const row = rowOf(sessionId)
  return row ? titleOf(row) : 'A session'
}
