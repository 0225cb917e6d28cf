import { useEffect, useState } from 'preact/hooks'
import { useAgents } from '../state/agents.ts'
import { addPictures, agentOfNew, askForDefaults, newSession, startSession } from '../state/new-session.ts'
import { go } from '../state/router.ts'
import { wordsOf } from '../state/session-actions.ts'
import { sessions } from '../state/sessions.ts'
import { AdoptList } from './adopt-list.tsx'
import { AgentChoice } from './agent-choice.tsx'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Icon } from './icon.tsx'
import { type Look, lookAt, PathField, useLook } from './path-field.tsx'
import { ModeChoice, ModelChoice, WorktreeChoice } from './session-choices.tsx'
import { Spinner } from './spinner.tsx'
import { toast } from './toast.tsx'

/** Starts a session, and opens it or stays for the next one. */
export function NewSession({ onClose }: { onClose(): void }) {
  const { agents, problem } = useAgents()
  const unknown = useDefaults()
  const look = useLook(newSession.cwd.value)
  const wanted = agentOfNew(agents)
  const agent = agents?.find(({ name }) => name === wanted) ?? null
  const { start, busy, wrong, noPlace } = useStart(agent?.name ?? null, look, onClose)
  const actions = (
    <>
      <Button label="Start and stay" shortcut="Control+Enter" disabled={!agent} onClick={() => start(true)} />
      <Button
        kind="primary"
        icon="send"
        label="Start"
        busy={busy}
        disabled={!agent}
        onClick={() => start(false)}
      />
    </>
  )
  return (
    <Dialog title="New session" onClose={onClose} actions={actions}>
      <div
        class="new-session"
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
          event.preventDefault()
          start(true)
        }}
      >
        {agents === null && problem === null && <Spinner label="Looking for agents" />}
        {[problem, unknown].map((one) => one !== null && <p class="field-error">{one}</p>)}
        {agents !== null && <AgentChoice agents={agents} current={wanted} />}
        <PathField look={look} problem={noPlace} />
        {look?.inRepository && <WorktreeChoice />}
        <ModeChoice />
        <ModelChoice agent={agent?.name ?? ''} />
        <FirstMessage takesPictures={agent?.capabilities.images ?? false} />
        {wrong !== null && (
          <p class="field-error" role="alert">
            <Icon name="circle-alert" />
            The session was not started: {wrong}
          </p>
        )}
        <AdoptList onClose={onClose} />
      </div>
    </Dialog>
  )
}

function useStart(agent: string | null, look: Look | null, onClose: () => void) {
  const [wrong, setWrong] = useState<string | null>(null)
  const [noPlace, setNoPlace] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  useEffect(() => setNoPlace(null), [newSession.cwd.value])

  async function start(stay: boolean): Promise<void> {
    if (busy || agent === null) return
    setBusy(true)
    setWrong(null)
    try {
      // Whoever is quick has typed it just now.
      const place = look ?? (newSession.cwd.value.trim() === '' ? null : await lookAt(newSession.cwd.value))
      if (!place?.isDirectory) return setNoPlace('Choose a directory that is there.')
      const id = await startSession(place, agent)
      if (!stay) {
        onClose()
        return go({ page: 'session', id })
      }
      toast('Started', { action: { label: 'Open', run: () => go({ page: 'session', id }) }, ms: 8000 })
    } catch (error) {
      setWrong(wordsOf(error))
    } finally {
      setBusy(false)
    }
  }

  return { start: (stay: boolean) => void start(stay), busy, wrong, noPlace }
}

/** Who has chosen nothing gets the daemon's agent and mode, and where sessions have worked last. Returns what went wrong. */
function useDefaults(): string | null {
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => {
    askForDefaults().catch((error: unknown) => setProblem(`The defaults are not known: ${wordsOf(error)}`))
  }, [])
  useEffect(() => {
    if (newSession.cwd.value !== '') return
    const rows = [...(sessions.value?.rows.values() ?? [])].filter(({ worktree }) => !worktree)
    newSession.cwd.value = rows.toSorted((a, b) => b.activeAt - a.activeAt)[0]?.cwd ?? ''
  }, [])
  return problem
}

function FirstMessage({ takesPictures }: { takesPictures: boolean }) {
  const { text, pictures } = newSession
  const [problem, setProblem] = useState<string | null>(null)

  function take(files: FileList | null | undefined): boolean {
    const found = [...(files ?? [])]
    if (found.length === 0 || !takesPictures) return false
    addPictures(found).then(setProblem, (error: unknown) => setProblem(wordsOf(error)))
    return true
  }

  return (
    <div class="field">
      <label class="field-label" for="new-message">
        First message
      </label>
      <textarea
        id="new-message"
        autofocus
        class="input"
        rows={4}
        maxLength={100_000}
        placeholder="What is to be done?"
        value={text.value}
        onInput={({ currentTarget }) => (text.value = currentTarget.value)}
        onPaste={(event) => take(event.clipboardData?.files) && event.preventDefault()}
        onDragOver={(event) => takesPictures && event.preventDefault()}
        onDrop={(event) => take(event.dataTransfer?.files) && event.preventDefault()}
      />
      {pictures.value.length > 0 && <Pictures />}
      <div class="field-hint message-hint">
        <span>
          <kbd>Ctrl</kbd> <kbd>Enter</kbd> starts it and stays here for the next one.
        </span>
        {takesPictures && (
          <label class="button button-quiet picture-button">
            <Icon name="image" /> Add pictures
            <input
              class="aside"
              type="file"
              accept="image/*"
              multiple
              onChange={({ currentTarget }) => take(currentTarget.files)}
            />
          </label>
        )}
      </div>
      {problem !== null && <p class="field-error">{problem}</p>}
    </div>
  )
}

function Pictures() {
  const { pictures } = newSession
  return (
    <ul class="new-pictures">
      {pictures.value.map((picture, at) => (
        <li key={at}>
          <img src={`data:${picture.mediaType};base64,${picture.data}`} alt={picture.name} />
          <Button
            kind="quiet"
            icon="x"
            iconOnly
            label={`Remove ${picture.name}`}
            onClick={() => (pictures.value = pictures.value.filter((one) => one !== picture))}
          />
        </li>
      ))}
    </ul>
  )
}
