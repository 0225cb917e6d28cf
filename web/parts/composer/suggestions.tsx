import { useEffect, useId, useState } from 'preact/hooks'
import type { AgentCommand } from '../../../src/core/event.ts'
import type { SessionView } from '../../../src/dialects/native/wire.ts'
import { abilitiesOf, modelsOf } from '../../state/abilities.ts'
import {
  commandSuggestions,
  completed,
  typingAt,
  type CommandFacts,
  type Suggestion,
  type Typing,
} from '../../state/completion.ts'
import { client } from '../../state/connection.ts'
import type { OpenSession } from '../../state/session.ts'
import { inertLine } from '../inert.ts'

interface Asked {
  session: OpenSession
  view: SessionView
  area: { current: HTMLTextAreaElement | null }
  text: string
  onText(text: string): void
}

export interface SuggestionList {
  id: string
  items: readonly Suggestion[]
  at: number
  choose(index: number): void
  /** Says whether the key was for the list. */
  onKey(event: KeyboardEvent): boolean
  /** What the text field must carry. */
  attributes: Record<string, string | boolean | undefined>
}

const MAX_FILES = 10
const WAIT_MS = 80

/** Files after an `@`, commands after a `/` at the beginning: what fits what stands before the cursor. */
export function useSuggestions(asked: Asked): SuggestionList {
  const { session, view, area, text, onText } = asked
  const id = useId()
  const [at, setAt] = useState(0)
  const [closed, setClosed] = useState<string | null>(null)
  const typing = typingAt(text, area.current?.selectionStart ?? text.length)
  const query = typing ? `${typing.kind} ${typing.query}` : null
  const files = useFiles(session.id, typing)
  const facts = useFacts(session.id, view, typing?.kind === 'command')
  const items =
    query === null || query === closed
      ? NONE
      : typing!.kind === 'file'
        ? files
        : commandSuggestions(typing!.query, facts)
  useEffect(() => setAt(0), [query])
  // What is written in full needs no suggestion.
  const isShown = items.length > 0 && !(items.length === 1 && items[0]!.text.trim() === typing?.query.trim())

  function choose(index: number): void {
    const element = area.current
    const item = items[index]
    if (!element || !item || !typing) return
    const next = completed(element.value, typing, item.text)
    onText(next.text)
    element.value = next.text
    element.setSelectionRange(next.cursor, next.cursor)
    element.focus()
  }

  function onKey(event: KeyboardEvent): boolean {
    if (!isShown || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return false
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) setAt((at + step + items.length) % items.length)
    else if (event.key === 'Enter' || event.key === 'Tab') choose(at)
    else if (event.key === 'Escape') setClosed(query)
    else return false
    event.preventDefault()
    event.stopPropagation()
    return true
  }

  const attributes = {
    'aria-autocomplete': 'list',
    'aria-controls': isShown ? id : undefined,
    'aria-activedescendant': isShown ? `${id}-${at}` : undefined,
  }
  return { id, items: isShown ? items : NONE, at, choose, onKey, attributes }
}

const NONE: readonly Suggestion[] = []

export function Suggestions({ of: { id, items, at, choose } }: { of: SuggestionList }) {
  if (items.length === 0) return null
  return (
    <ul class="suggestions" id={id} role="listbox" aria-label="Suggestions">
      {items.map(({ text, label, hint }, index) => (
        <li
          key={text}
          id={`${id}-${index}`}
          class="suggestion"
          role="option"
          aria-selected={index === at}
          // Before the text field loses the focus.
          onPointerDown={(event) => {
            event.preventDefault()
            choose(index)
          }}
        >
          <span class="mono">{inertLine(label)}</span>
          {hint !== '' && <span class="muted">{inertLine(hint)}</span>}
        </li>
      ))}
    </ul>
  )
}

function useFiles(sessionId: string, typing: Typing | null): readonly Suggestion[] {
  const [found, setFound] = useState<readonly Suggestion[]>(NONE)
  const query = typing?.kind === 'file' ? typing.query : null
  useEffect(() => {
    if (query === null) return setFound(NONE)
    let wanted = true
    const timer = setTimeout(() => {
      client()
        .call('files.find', { sessionId, query, limit: MAX_FILES })
        .then(
          ({ files }) =>
            wanted && setFound(files.map(({ path }) => ({ text: `@${path}`, label: path, hint: '' }))),
          () => {}, // it can be written out
        )
    }, WAIT_MS)
    return () => {
      wanted = false
      clearTimeout(timer)
    }
  }, [query])
  return found
}

/** Looked for when the first slash is written. */
function useFacts(sessionId: string, view: SessionView, isWanted: boolean): CommandFacts {
  const [agents, setAgents] = useState<readonly AgentCommand[] | null>(null)
  useEffect(() => {
    if (!isWanted || agents) return
    void agentCommands(sessionId).then(setAgents, () => setAgents([]))
  }, [isWanted])
  if (!isWanted) return NO_FACTS
  const can = abilitiesOf(view.agent)
  const models = can?.setModel ? modelsOf(view.agent) : []
  const inUse = models.find(({ id }) => id === (view.model ?? view.modelInUse))
  const efforts = can?.effort ? (inUse?.efforts ?? []) : []
  return { models, efforts, canCompact: can?.compact ?? false, agents: agents ?? [] }
}

const NO_FACTS: CommandFacts = { models: [], efforts: [], canCompact: false, agents: [] }

/** As the agent told them last. */
async function agentCommands(sessionId: string): Promise<readonly AgentCommand[]> {
  const query = { sessionId, before: Number.MAX_SAFE_INTEGER, limit: 1 }
  const { events } = await client().call('events.read', { ...query, types: ['agent.commands'] })
  const [event] = events
  return event?.type === 'agent.commands' ? event.commands : []
}
