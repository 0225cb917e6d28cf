import { useState } from 'preact/hooks'
import { NativeError, type Api } from '../client/client.ts'
import { client } from '../state/connection.ts'
import { mayManage } from '../state/may-manage.ts'
import { modeOfNew } from '../state/new-session.ts'
import { go } from '../state/router.ts'
import { Ago } from './ago.tsx'
import { Button } from './button.tsx'
import { inertLine } from './inert.ts'
import { Spinner } from './spinner.tsx'
import { problemOf, useCall } from './use-call.ts'

type Conversation = Api['agents.conversations']['result']['conversations'][number]

const LIMIT = 30

/** What was begun with an agent in a terminal, to go on with here. Nothing is looked for before it is opened. */
export function AdoptList({ onClose }: { onClose(): void }) {
  const [isOpen, setOpen] = useState(false)
  if (!mayManage.value) return null
  return (
    <details class="adopt" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Go on with a conversation from a terminal</summary>
      {isOpen && <Found onClose={onClose} />}
    </details>
  )
}

function Found({ onClose }: { onClose(): void }) {
  const { data, problem, isLoading } = useCall('agents.conversations', { limit: LIMIT })
  const [busy, setBusy] = useState<string | null>(null)
  const [wrong, setWrong] = useState<{ text: string; again: Conversation | null } | null>(null)
  if (problem !== null) return <p class="field-error">{problem}</p>
  if (data === null) return isLoading ? <Spinner label="Looking for conversations" /> : null
  if (data.conversations.length === 0) return <Nothing places={data.places} />

  async function goOn(one: Conversation, force = false): Promise<void> {
    const { agent, id } = one
    setBusy(id)
    setWrong(null)
    try {
      const wanted = { agent, id, mode: modeOfNew.value, force, origin: 'dashboard' }
      const { session } = await client().call('session.adopt', wanted)
      onClose()
      go({ page: 'session', id: session.id })
    } catch (error) {
      setWrong({ text: problemOf(error), again: isDoubtful(error) ? one : null })
    } finally {
      setBusy(null)
    }
  }

  const again = wrong?.again ?? null
  return (
    <>
      {wrong !== null && (
        <div class="field-error adopt-wrong" role="alert">
          <p>{wrong.text}</p>
          {again && <Button label="Go on all the same" onClick={() => void goOn(again, true)} />}
        </div>
      )}
      <ul class="adopt-list">
        {data.conversations.map((one) => (
          <Row
            key={`${one.agent} ${one.id}`}
            conversation={one}
            busy={busy === one.id}
            goOn={() => busy === null && void goOn(one)}
          />
        ))}
      </ul>
    </>
  )
}

/** Whoever knows that the other program has another conversation open may go on. */
function isDoubtful(error: unknown): boolean {
  return error instanceof NativeError && error.data['reason'] === 'maybe_open_elsewhere'
}

function Row({ conversation, busy, goOn }: { conversation: Conversation; busy: boolean; goOn(): void }) {
  const { agent, cwd, title, opening, updatedAt, holder } = conversation
  const name = inertLine(title ?? opening ?? 'Untitled')
  return (
    <li class="adopt-item">
      <div class="adopt-about">
        <p class="adopt-name">{name}</p>
        <p class="field-hint">
          {inertLine(agent)} · <Ago at={updatedAt} /> · <span class="adopt-place">{inertLine(cwd)}</span>
          {holder !== null && ` · ${holder.certain ? 'open' : 'may be open'} in another program`}
        </p>
      </div>
      <Button label={`Go on with ${name}`} icon="play" iconOnly busy={busy} onClick={goOn} />
    </li>
  )
}

function Nothing({ places }: { places: readonly { agent: string; path: string }[] }) {
  return (
    <div class="field-hint">
      <p>There is none that Corral does not have already. It looked in:</p>
      <ul>
        {places.map(({ agent, path }) => (
          <li key={agent}>
            {agent}: {inertLine(path)}
          </li>
        ))}
      </ul>
    </div>
  )
}
