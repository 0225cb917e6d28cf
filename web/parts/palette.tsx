import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { client } from '../state/connection.ts'
import { hitPath } from '../state/found.ts'
import { type PaletteItem, paletteItems } from '../state/palette-items.ts'
import { type PaletteGroup, ranked } from '../state/ranking.ts'
import { go } from '../state/router.ts'
import { titleOf } from '../state/session-actions.ts'
import { rowOf } from '../state/sessions.ts'
import { visibleLine } from '../state/visible-text.ts'
import { Icon } from './icon.tsx'

const GROUPS: Readonly<Record<PaletteGroup, string>> = {
  sessions: 'Sessions',
  actions: 'Actions',
  pages: 'Pages',
  messages: 'What was said',
}

/** A line to type in, and everything that it can lead to. */
export function Palette({ onClose }: { onClose(): void }) {
  const dialog = useModal()
  const [query, setQuery] = useState('')
  const [at, setAt] = useState(0)
  const messages = useMessages(query)
  const groups = useMemo(() => ranked([...paletteItems(), ...messages], query), [query, messages])
  const items = groups.flatMap((group) => group.items)
  const active = Math.min(at, items.length - 1)
  const list = useId()
  useEffect(() => {
    document.getElementById(`${list}-${active}`)?.scrollIntoView({ block: 'nearest' })
  }, [active, groups])

  function run(item: PaletteItem | undefined): void {
    if (!item) return
    onClose()
    // The focus goes back first: what is done may want it elsewhere.
    queueMicrotask(item.run)
  }

  function onKeyDown(event: KeyboardEvent): void {
    const to = { ArrowDown: active + 1, ArrowUp: active - 1 }[event.key]
    if (event.key === 'Enter' && !event.isComposing) run(items[active])
    else if (to === undefined) return
    else setAt((to + items.length) % Math.max(1, items.length))
    event.preventDefault()
  }

  const typed = (text: string): void => {
    setQuery(text)
    setAt(0)
  }
  return (
    <dialog
      ref={dialog}
      class="palette"
      aria-label="Find or do"
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      // A browser that was not asked closes it all the same.
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div class="palette-inner">
        <label class="palette-line">
          <Icon name="search" />
          <QueryLine list={list} active={items.length > 0 ? active : null} {...{ query, typed, onKeyDown }} />
        </label>
        <Results id={list} groups={groups} active={active} run={run} />
      </div>
    </dialog>
  )
}

/** In front of everything while it is shown; the focus goes back to where it was. */
function useModal() {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return dialog
}

function QueryLine({
  list,
  active,
  query,
  typed,
  onKeyDown,
}: {
  list: string
  active: number | null
  query: string
  typed(text: string): void
  onKeyDown(event: KeyboardEvent): void
}) {
  return (
    <input
      class="palette-input"
      role="combobox"
      aria-label="Find a session, a page, an action or a message"
      aria-expanded="true"
      aria-controls={list}
      aria-activedescendant={active === null ? undefined : `${list}-${active}`}
      placeholder="Find a session, a page, an action or what was said"
      autocomplete="off"
      spellcheck={false}
      value={query}
      onInput={({ currentTarget }) => typed(currentTarget.value)}
      onKeyDown={onKeyDown}
    />
  )
}

function Results({
  id,
  groups,
  active,
  run,
}: {
  id: string
  groups: readonly { group: PaletteGroup; items: PaletteItem[] }[]
  active: number
  run(item: PaletteItem): void
}) {
  let index = -1
  if (groups.length === 0) {
    return (
      <div class="palette-list" id={id} role="listbox" aria-label="Nothing was found">
        <p class="palette-none">Nothing fits. Search looks through everything that was said.</p>
      </div>
    )
  }
  return (
    <div class="palette-list" id={id} role="listbox" aria-label="What was found">
      {groups.map(({ group, items }) => (
        <div key={group} role="group" aria-label={GROUPS[group]}>
          <div class="palette-group" aria-hidden="true">
            {GROUPS[group]}
          </div>
          {items.map((item) => {
            index += 1
            return (
              <Result key={item.id} id={`${id}-${index}`} item={item} isActive={index === active} run={run} />
            )
          })}
        </div>
      ))}
    </div>
  )
}

function Result({
  id,
  item,
  isActive,
  run,
}: {
  id: string
  item: PaletteItem
  isActive: boolean
  run(item: PaletteItem): void
}) {
  return (
    <div
      id={id}
      class="palette-item"
      role="option"
      aria-selected={isActive}
      onPointerDown={(event) => event.preventDefault()}
      onClick={() => run(item)}
    >
      <Icon name={item.icon} />
      <span class="palette-title">{item.title}</span>
      <span class="palette-detail">{item.hint ?? item.detail}</span>
    </div>
  )
}

const SHORTEST = 3
const PAUSE_MS = 150

/** What was said, found by the daemon once somebody has stopped typing. */
function useMessages(query: string): PaletteItem[] {
  const [found, setFound] = useState<PaletteItem[]>([])
  useEffect(() => {
    const text = query.trim()
    setFound([])
    if (text.length < SHORTEST) return
    let isOver = false
    const timer = setTimeout(() => {
      client()
        .call('messages.search', { text, limit: 6 })
        .then(
          ({ hits }) => !isOver && setFound(hits.map(messageItem)),
          () => {}, // Search itself says what is wrong
        )
    }, PAUSE_MS)
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [query])
  return found
}

function messageItem(hit: {
  sessionId: string
  seq: number
  turnId: string | null
  text: string
}): PaletteItem {
  const row = rowOf(hit.sessionId)
  return {
    id: `message:${hit.sessionId}:${hit.seq}`,
    group: 'messages',
    title: visibleLine(hit.text),
    detail: row ? titleOf(row) : 'An older session',
    icon: 'message-square',
    run: () => go(hitPath(hit)),
  }
}
