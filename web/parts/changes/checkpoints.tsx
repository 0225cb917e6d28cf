import { useState } from 'preact/hooks'
import type { Api } from '../../client/client.ts'
import { firstLineOf } from '../../state/changes/scope.ts'
import { client } from '../../state/connection.ts'
import { plural } from '../../state/figures.ts'
import { Ago } from '../ago.tsx'
import { Badge } from '../badge.tsx'
import { Button } from '../button.tsx'
import { Dialog } from '../dialog.tsx'
import { Diff } from '../diff.tsx'
import { Failed } from '../failed.tsx'
import { inertLine } from '../inert.ts'
import { Spinner } from '../spinner.tsx'
import { toast } from '../toast.tsx'
import { problemOf, useCall } from '../use-call.ts'

type Checkpoint = Api['checkpoint.list']['result']['checkpoints'][number]
type Turn = Api['turn.list']['result']['turns'][number]

interface CheckpointsProps {
  sessionId: string
  turns: readonly Turn[]
  onClose(): void
  onRestored(): void
}

/** States that the files can go back to; each is looked at before anything is done. */
export function CheckpointsDialog({ sessionId, turns, onClose, onRestored }: CheckpointsProps) {
  const { data, problem, reload } = useCall('checkpoint.list', { sessionId })
  const [chosen, setChosen] = useState<Checkpoint | null>(null)
  if (chosen) {
    return (
      <PreviewDialog
        sessionId={sessionId}
        checkpoint={chosen}
        name={nameOf(chosen, turns)}
        onBack={() => setChosen(null)}
        onClose={onClose}
        onRestored={onRestored}
      />
    )
  }
  return (
    <Dialog title="Checkpoints" onClose={onClose}>
      <p class="muted small">
        The files as they were before each turn. Going back changes files only: no commit, no index, nothing
        that git ignores.
      </p>
      {problem !== null && (
        <Failed what="The checkpoints could not be listed" problem={problem} onRetry={reload} />
      )}
      {!data && problem === null && <Spinner label="Loading" />}
      {data && data.checkpoints.length === 0 && <p>{data.reason ?? 'There are none yet.'}</p>}
      <ul class="rows">
        {data?.checkpoints.map((checkpoint) => (
          <li key={checkpoint.turnId} class="along">
            <CheckpointLine checkpoint={checkpoint} name={nameOf(checkpoint, turns)} />
            <Button icon="history" label="Look" onClick={() => setChosen(checkpoint)} />
          </li>
        ))}
      </ul>
    </Dialog>
  )
}

function nameOf({ turnId, kind }: Checkpoint, turns: readonly Turn[]): string {
  if (kind === 'undo') return 'Before the files were taken back'
  const turn = turns.find(({ id }) => id === turnId)
  return turn ? `Before: ${inertLine(firstLineOf(turn.input))}` : 'Before an older turn'
}

function CheckpointLine({ checkpoint, name }: { checkpoint: Checkpoint; name: string }) {
  const { at, files, kind, left } = checkpoint
  return (
    <div class="along-main">
      <div>{name}</div>
      <div class="muted small">
        <Ago at={at} />
        {files !== null && ` · the turn changed ${plural(files, 'file')}`}
        {left.length > 0 && ` · without ${plural(left.length, 'file')} too large to keep`}{' '}
        {kind === 'undo' && <Badge>undo</Badge>}
      </div>
    </div>
  )
}

interface PreviewProps {
  sessionId: string
  checkpoint: Checkpoint
  name: string
  onBack(): void
  onClose(): void
  onRestored(): void
}

/** What going back would do, before it is done. */
function PreviewDialog({ sessionId, checkpoint, name, onBack, onClose, onRestored }: PreviewProps) {
  const { turnId } = checkpoint
  const { data, problem, reload } = useCall('checkpoint.preview', { sessionId, turnId })
  const [busy, setBusy] = useState(false)
  const [refused, setRefused] = useState<string | null>(null)
  async function restore(force: boolean): Promise<void> {
    setBusy(true)
    setRefused(null)
    try {
      await restoreTo({ sessionId, turnId, force }, onRestored)
      onClose()
    } catch (error) {
      setRefused(problemOf(error))
      setBusy(false)
      reload()
    }
  }
  const isSame = data?.files.length === 0
  const isInTheWay = data !== null && data.conflicts.length > 0
  const actions = (
    <>
      <Button icon="arrow-left" label="Back" onClick={onBack} />
      {isInTheWay && (
        <Button kind="danger" label="Overwrite my files" busy={busy} onClick={() => void restore(true)} />
      )}
      <Button
        kind="primary"
        icon="undo-2"
        label="Restore"
        busy={busy}
        disabled={!data?.canRestore || isSame}
        onClick={() => void restore(false)}
      />
    </>
  )
  return (
    <Dialog title={name} onClose={onClose} actions={actions}>
      {problem !== null && <Failed what="It could not be looked at" problem={problem} onRetry={reload} />}
      {refused !== null && (
        <p class="problem" role="alert">
          {refused}
        </p>
      )}
      {!data && problem === null && <Spinner label="Looking what would change" />}
      {data && <Preview preview={data} />}
    </Dialog>
  )
}

function Preview({ preview }: { preview: Api['checkpoint.preview']['result'] }) {
  const { files, truncated, conflicts, canRestore, reason } = preview
  if (files.length === 0 && conflicts.length === 0)
    return <p>The files are as they were then: nothing would change.</p>
  return (
    <div class="checkpoint-preview">
      {reason !== null && <p class={canRestore ? 'muted' : 'problem'}>{reason}</p>}
      {conflicts.length > 0 && (
        <>
          <p>
            These files of yours are in the way. Commit them, or put them somewhere else. You can also
            overwrite them: <em>Undo</em> brings them back.
          </p>
          <ul class="lost-files" aria-label="Files of yours that are in the way">
            {conflicts.map(({ path, why }) => (
              <li key={path}>
                <code>{inertLine(path)}</code> <span class="muted small">{inertLine(why)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      <p>Restoring would do this to {plural(files.length, 'file')}:</p>
      <Diff files={files} />
      {truncated && <p class="muted small">There is more than can be shown here.</p>}
    </div>
  )
}

/** Takes back what was offered last: from where the files are now it would lead elsewhere. */
let withdrawOffer = (): void => {}

/** Goes back, and offers the way forth again. */
async function restoreTo(
  wanted: { sessionId: string; turnId: string; force: boolean },
  onRestored: () => void,
): Promise<void> {
  const { restored, undo } = await client().call('checkpoint.restore', wanted)
  onRestored()
  withdrawOffer()
  withdrawOffer = toast(`${plural(restored, 'file')} restored.`, {
    action: {
      label: 'Undo',
      run: () =>
        void restoreTo({ ...wanted, turnId: undo.turnId, force: false }, onRestored).catch((error: unknown) =>
          toast(problemOf(error), { tone: 'bad' }),
        ),
    },
  })
}
