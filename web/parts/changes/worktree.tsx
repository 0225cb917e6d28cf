import { useState } from 'preact/hooks'
import { NativeError, type Api } from '../../client/client.ts'
import { client } from '../../state/connection.ts'
import { plural } from '../../state/figures.ts'
import { Button } from '../button.tsx'
import { Confirm } from '../confirm.tsx'
import { Dialog } from '../dialog.tsx'
import { Field } from '../field.tsx'
import { inertLine } from '../inert.ts'
import { toast } from '../toast.tsx'
import { problemOf } from '../use-call.ts'
import { lastPart } from '../use-sessions.ts'

type Worktree = Api['worktree.list']['result']['worktrees'][number]
type Outcome = Api['worktree.merge']['result']

interface WorktreeProps {
  worktree: Worktree
  /** Null: not known. */
  unmerged: number | null
  title: string
  isRunning: boolean
  onChanged(): void
}

/** What can be done with the work of a session that has a worktree of its own. */
export function WorktreeActions({ worktree, unmerged, title, isRunning, onChanged }: WorktreeProps) {
  const [asked, setAsked] = useState<'merge' | 'discard' | null>(null)
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  return (
    <>
      <Button
        icon="git-merge"
        label="Merge"
        kind={unmerged === 0 ? 'plain' : 'primary'}
        disabled={isRunning || unmerged === 0}
        onClick={() => setAsked('merge')}
      />
      <Button
        icon="trash-2"
        label="Discard"
        kind="danger"
        disabled={isRunning}
        onClick={() => setAsked('discard')}
      />
      {asked === 'merge' && (
        <MergeDialog
          worktree={worktree}
          title={title}
          onClose={() => setAsked(null)}
          onOutcome={(found) => {
            if (found.outcome === 'merged') toast(mergedWords(found, worktree))
            else setOutcome(found)
            onChanged()
          }}
        />
      )}
      {asked === 'discard' && (
        <DiscardDialog worktree={worktree} onClose={() => setAsked(null)} onDone={onChanged} />
      )}
      {outcome && <OutcomeDialog outcome={outcome} worktree={worktree} onClose={() => setOutcome(null)} />}
    </>
  )
}

function mergedWords({ how, commit }: Outcome, { from }: Worktree): string {
  const where = from === null ? '' : ` into ${inertLine(lastPart(from))}`
  const forward = how === 'fast-forward' ? ' (fast-forward)' : ''
  return `Merged${where}${forward}: the branch is at ${commit?.slice(0, 9)} now.`
}

interface MergeDialogProps {
  worktree: Worktree
  title: string
  onClose(): void
  onOutcome(outcome: Outcome): void
}

function MergeDialog({ worktree, title, onClose, onOutcome }: MergeDialogProps) {
  const [message, setMessage] = useState(title)
  async function merge(): Promise<void> {
    const words = message.trim()
    const params = { sessionId: worktree.sessionId, ...(words !== '' && { message: words }) }
    onOutcome(await client().call('worktree.merge', params))
  }
  return (
    <Confirm title="Merge the work of this session" action="Merge" onConfirm={merge} onClose={onClose}>
      <p>
        Brings everything that this session has changed in its worktree
        {worktree.branch !== null && (
          <>
            {' '}
            (<code>{inertLine(worktree.branch)}</code>)
          </>
        )}{' '}
        into the branch that is checked out in{' '}
        {worktree.from === null ? 'your repository' : <code>{inertLine(worktree.from)}</code>}. If that does
        not go without conflicts, nothing there is touched.
      </p>
      <Field label="Message of the commit">
        {(control) => (
          <textarea
            {...control}
            class="input"
            rows={3}
            maxLength={10_000}
            value={message}
            onInput={({ currentTarget }) => setMessage(currentTarget.value)}
          />
        )}
      </Field>
    </Confirm>
  )
}

const WHY: Readonly<Record<NonNullable<Outcome['why']>, string>> = {
  detached: 'Your repository has no branch checked out. Check one out, then merge.',
  uncommitted: 'You have uncommitted changes in these files. Commit them or put them aside, then merge.',
  unfinished: 'A merge or a rebase is under way in your repository. Finish it, then merge.',
}

/** Why nothing was merged. */
function OutcomeDialog({
  outcome,
  worktree,
  onClose,
}: {
  outcome: Outcome
  worktree: Worktree
  onClose(): void
}) {
  const { outcome: what, why, files = [] } = outcome
  if (what === 'nothing') {
    return (
      <Dialog title="There is nothing to merge" onClose={onClose}>
        <p>The branch of your repository has all of it already.</p>
      </Dialog>
    )
  }
  const isConflict = what === 'conflict'
  return (
    <Dialog
      title={isConflict ? 'There are conflicts' : 'It cannot be merged now'}
      onClose={onClose}
      actions={isConflict ? <AskAgent files={files} worktree={worktree} onClose={onClose} /> : undefined}
    >
      <p>
        {isConflict
          ? 'You and the session have changed the same lines. Nothing was touched.'
          : why
            ? WHY[why]
            : 'Nothing was touched.'}
      </p>
      <Files files={files} />
    </Dialog>
  )
}

function Files({ files }: { files: readonly string[] }) {
  if (files.length === 0) return null
  return (
    <ul class="lost-files" aria-label="Files">
      {files.map((file) => (
        <li key={file}>
          <code>{inertLine(file)}</code>
        </li>
      ))}
    </ul>
  )
}

function AskAgent({
  files,
  worktree,
  onClose,
}: {
  files: readonly string[]
  worktree: Worktree
  onClose(): void
}) {
  async function ask(): Promise<void> {
    const list = files.map((file) => `- ${file}`).join('\n')
    const content = `Your branch cannot be merged: these files conflict with the branch that is checked out in the main repository.\n\n${list}\n\nMerge that branch into yours here, resolve the conflicts, and commit.`
    try {
      await client().call('session.send', { sessionId: worktree.sessionId, content, origin: 'dashboard' })
      toast('The agent has been asked to resolve the conflicts.')
      onClose()
    } catch (error) {
      toast(problemOf(error), { tone: 'bad' })
    }
  }
  return (
    <>
      <Button label="Close" onClick={onClose} />
      <Button kind="primary" label="Ask the agent to resolve them" onClick={() => void ask()} />
    </>
  )
}

interface Lost {
  files: string[]
  commits: number
}

/** First without force: what would be lost is said before. */
function DiscardDialog({
  worktree,
  onClose,
  onDone,
}: {
  worktree: Worktree
  onClose(): void
  onDone(): void
}) {
  const [lost, setLost] = useState<Lost | null>(null)
  async function discard(): Promise<void> {
    try {
      await client().call('worktree.discard', { sessionId: worktree.sessionId, force: lost !== null })
    } catch (error) {
      const would = lostBy(error)
      if (!would || lost) throw error
      setLost(would)
      throw new Error('This work is nowhere else. Discard it all the same?', { cause: error })
    }
    toast('The worktree is gone. The session can only be read now.')
    onDone()
  }
  return (
    <Confirm
      title="Discard the worktree?"
      action={lost ? 'Discard it and lose the work' : 'Discard'}
      danger
      onConfirm={discard}
      onClose={onClose}
    >
      <p>
        Removes <code>{inertLine(worktree.path)}</code> and its branch. The session can only be read then.
      </p>
      {lost && (
        <>
          {lost.commits > 0 && (
            <p>{plural(lost.commits, 'commit')} that no other branch has would be lost.</p>
          )}
          <Files files={lost.files} />
        </>
      )}
    </Confirm>
  )
}

function lostBy(error: unknown): Lost | null {
  if (!(error instanceof NativeError) || error.code !== 'unsaved_work') return null
  const { files, commits } = error.data
  return {
    files: Array.isArray(files) ? files.map(String) : [],
    commits: Array.isArray(commits) ? commits.length : typeof commits === 'number' ? commits : 0,
  }
}
