import { useEffect, useId, useState } from 'preact/hooks'
import type { Api } from '../client/client.ts'
import { client } from '../state/connection.ts'
import { newSession } from '../state/new-session.ts'
import { parentOf, type PathSuggestion, suggestPaths } from '../state/path-suggestions.ts'
import { sessions } from '../state/sessions.ts'
import { Icon } from './icon.tsx'

export type Look = Api['directory.look']['result']

/** The directory that a session works in, with those that were used before and what lies below the one typed. */
export function PathField({ look, problem }: { look: Look | null; problem: string | null }) {
  const id = useId()
  const { shown, at, choose, ...handlers } = useOffer()
  return (
    <div class="field path-field">
      <label class="field-label" for={id}>
        Directory
      </label>
      <input
        id={id}
        class="input mono"
        role="combobox"
        aria-expanded={shown.length > 0}
        aria-controls={`${id}-list`}
        aria-activedescendant={shown[at] ? `${id}-${at}` : undefined}
        aria-invalid={problem !== null || undefined}
        aria-describedby={`${id}-hint`}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        placeholder="~/code/project"
        value={newSession.cwd.value}
        {...handlers}
      />
      {shown.length > 0 && <Suggestions id={id} shown={shown} at={at} choose={choose} />}
      <div class="field-hint" id={`${id}-hint`}>
        {problem !== null ? <span class="field-error">{problem}</span> : <WhatIsThere look={look} />}
      </div>
    </div>
  )
}

/** What is offered, which of it is marked, and what the field does about it. */
function useOffer() {
  const { cwd } = newSession
  const [isOpen, setOpen] = useState(false)
  const [at, setAt] = useState(-1)
  const suggestions = useSuggestions(cwd.value)
  const shown = isOpen ? suggestions : []

  function choose(one: PathSuggestion): void {
    cwd.value = one.path
    setAt(-1)
    setOpen(one.why === 'inside')
  }

  return {
    shown,
    at,
    choose,
    onFocus: () => setOpen(true),
    onBlur: () => setOpen(false),
    onInput({ currentTarget }: { currentTarget: HTMLInputElement }) {
      cwd.value = currentTarget.value
      setAt(-1)
      setOpen(true)
    },
    onKeyDown(event: KeyboardEvent) {
      const marked = shown[at]
      if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
        setOpen(true)
        const count = Math.max(1, suggestions.length)
        setAt((before) => (before + (event.key === 'ArrowDown' ? 1 : -1) + count) % count)
      } else if (event.key === 'Enter' && marked && !event.ctrlKey && !event.metaKey) choose(marked)
      else if (event.key === 'Escape' && shown.length > 0) setOpen(false)
      else return
      event.preventDefault()
      event.stopPropagation()
    },
  }
}

function WhatIsThere({ look }: { look: Look | null }) {
  if (!look) return <>The agent works there.</>
  if (!look.isDirectory) return <>There is no such directory yet on the daemon’s machine.</>
  return <>{look.inRepository ? 'In a git repository.' : 'Not in a git repository.'}</>
}

const WHY: Readonly<Record<PathSuggestion['why'], string>> = {
  recent: 'used before',
  project: 'project',
  inside: '',
}

function Suggestions({
  id,
  shown,
  at,
  choose,
}: {
  id: string
  shown: readonly PathSuggestion[]
  at: number
  choose(one: PathSuggestion): void
}) {
  return (
    <ul class="path-list" id={`${id}-list`} role="listbox" aria-label="Directories">
      {shown.map((one, index) => (
        <li
          key={one.path}
          id={`${id}-${index}`}
          class="path-item"
          role="option"
          aria-selected={index === at}
          onPointerDown={(event) => {
            event.preventDefault()
            choose(one)
          }}
        >
          <Icon name="folder" />
          <span class="path-text">{one.path}</span>
          <span class="muted small">{one.name ?? WHY[one.why]}</span>
        </li>
      ))}
    </ul>
  )
}

/** What fits what was typed: from the sessions, the projects, and the daemon's disk. */
function useSuggestions(typed: string): PathSuggestion[] {
  const [repositories, setRepositories] = useState<{ path: string; name: string }[]>([])
  const parent = parentOf(typed)
  const inside = useLook(parent)
  useEffect(() => {
    client()
      .call('project.list')
      .then(
        ({ projects }) =>
          setRepositories(projects.flatMap(({ name, repos }) => repos.map(({ path }) => ({ path, name })))),
        () => {},
      )
  }, [])
  const rows = [...(sessions.value?.rows.values() ?? [])].filter(({ worktree }) => !worktree)
  const recent = [...new Set(rows.toSorted((a, b) => b.activeAt - a.activeAt).map(({ cwd }) => cwd))]
  return suggestPaths(typed, { recent, repositories, inside })
}

const PAUSE_MS = 120

export function lookAt(path: string): Promise<Look> {
  return client().call('directory.look', { path: path.trim() })
}

/** What is at a path, once somebody has stopped typing; null: nobody knows yet. */
export function useLook(path: string): Look | null {
  const [look, setLook] = useState<Look | null>(null)
  useEffect(() => {
    let isOver = false
    setLook(null)
    if (path.trim() === '') return
    const timer = setTimeout(() => {
      lookAt(path).then(
        (found) => !isOver && setLook(found),
        () => {},
      )
    }, PAUSE_MS)
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [path])
  return look
}
