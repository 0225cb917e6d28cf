import { useEffect, useRef, useState } from 'preact/hooks'
import { EFFORTS } from '../../../src/core/effort.ts'
import type { SessionView } from '../../../src/dialects/native/wire.ts'
import { pathOf } from '../../route.ts'
import { abilitiesOf, modelsOf } from '../../state/abilities.ts'
import { MODE_WORDS, MODES_IN_ORDER } from '../../state/modes.ts'
import { contextPercent, costText, tokensText } from '../../state/row-words.ts'
import { titleOf } from '../../state/session-actions.ts'
import { configure, pause, rename } from '../../state/configuring.ts'
import type { OpenSession } from '../../state/session.ts'
import { rowOf } from '../../state/sessions.ts'
import { Button } from '../button.tsx'
import { Icon } from '../icon.tsx'
import { inertLine } from '../inert.ts'
import { Menu, type MenuItem } from '../menu.tsx'
import { rowMenu } from '../row-menu.ts'
import { StatusLine } from '../status.tsx'
import { StateLine } from './state.tsx'

interface HeaderProps {
  session: OpenSession
  view: SessionView
  onFind(): void
  onFork(): void
}

/** What the session is, how it stands, and what can be set about it. */
export function Header({ session, view, onFind, onFork }: HeaderProps) {
  return (
    <header class="session-head">
      <div class="session-title">
        <Title view={view} />
        <StateLine session={session} view={view} />
        <StatusLine />
      </div>
      <div class="session-facts">
        <span class="session-where" title={view.cwd}>
          <Icon name={rowOf(view.id)?.worktree ? 'folder-git-2' : 'folder'} />
          <span class="muted">{view.agent}</span> {inertLine(shortPath(view.cwd))}
        </span>
        <Settings view={view} />
        <Meter view={view} />
        <span class="session-tools">
          <Tools session={session} view={view} onFind={onFind} onFork={onFork} />
        </span>
      </div>
    </header>
  )
}

/** The last two names of a path. */
function shortPath(path: string): string {
  const names = path.split('/').filter(Boolean)
  return names.length > 2 ? `…/${names.slice(-2).join('/')}` : path
}

function Title({ view }: { view: SessionView }) {
  const [editing, setEditing] = useState(false)
  const heading = useRef<HTMLHeadingElement>(null)
  const title = inertLine(rowOf(view.id)?.title ?? titleOf(view))
  useEffect(() => {
    document.title = `${title} · Corral`
  }, [title])
  useEffect(() => heading.current?.focus({ preventScroll: true }), [])
  if (editing) {
    return (
      <input
        class="input session-rename"
        aria-label="Title of the session"
        maxLength={500}
        ref={(element) => void (element && document.activeElement !== element && element.select())}
        defaultValue={view.title ?? title}
        onBlur={(event) => {
          rename(view, event.currentTarget.value.trim())
          setEditing(false)
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') event.currentTarget.blur()
          if (event.key !== 'Escape') return
          event.stopPropagation()
          event.currentTarget.value = view.title ?? ''
          setEditing(false)
        }}
      />
    )
  }
  return (
    <>
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      <Button
        class="session-pencil"
        kind="quiet"
        icon="pencil"
        iconOnly
        label="Rename"
        onClick={() => setEditing(true)}
      />
    </>
  )
}

function Settings({ view }: { view: SessionView }) {
  const can = abilitiesOf(view.agent)
  const modes = MODES_IN_ORDER.map((mode): MenuItem => ({
    label: `${MODE_WORDS[mode].name}: ${MODE_WORDS[mode].means}`,
    checked: view.mode === mode,
    run: () => configure(view, { mode }),
  }))
  return (
    <span class="session-settings">
      <Menu kind="quiet" side="left" label={MODE_WORDS[view.mode].name} items={modes} />
      {can?.setModel !== false && <ModelMenu view={view} />}
      {can?.effort && <EffortMenu view={view} />}
    </span>
  )
}

function ModelMenu({ view }: { view: SessionView }) {
  const models = modelsOf(view.agent)
  const shown =
    models.find(({ id }) => id === (view.modelInUse ?? view.model))?.name ?? view.modelInUse ?? 'Model'
  if (models.length === 0)
    return view.modelInUse === null ? null : <span class="session-fact">{inertLine(shown)}</span>
  const own: MenuItem = {
    label: "The agent's choice",
    checked: view.model === null,
    run: () => configure(view, { model: null }),
  }
  const items = models.map(({ id, name }): MenuItem => ({
    label: inertLine(name),
    checked: view.model === id,
    run: () => configure(view, { model: id }),
  }))
  return <Menu kind="quiet" side="left" label={inertLine(shown)} items={[own, ...items]} />
}

function EffortMenu({ view }: { view: SessionView }) {
  const model = modelsOf(view.agent).find(({ id }) => id === (view.modelInUse ?? view.model))
  const efforts = model?.efforts ?? EFFORTS
  const own: MenuItem = {
    label: 'As it does by itself',
    checked: view.effort === null,
    run: () => configure(view, { effort: null }),
  }
  const items = efforts.map((effort): MenuItem => ({
    label: effort,
    checked: view.effort === effort,
    run: () => configure(view, { effort }),
  }))
  const label = view.effort === null ? 'Thinking: usual' : `Thinking: ${view.effort}`
  return <Menu kind="quiet" side="left" label={label} items={[own, ...items]} />
}

/** How full its context is, and what it has cost. */
function Meter({ view }: { view: SessionView }) {
  const row = rowOf(view.id)
  const percent = row && contextPercent(row)
  const { used, window } = row?.tokens ?? { used: null, window: null }
  const cost = costText(view.usage.costUsd)
  return (
    <>
      {used !== null && (
        <span class="session-fact" title={window === null ? undefined : `${used} of ${window} tokens`}>
          {percent !== null && (
            <progress class="session-meter" max={100} value={percent} aria-label="Context used" />
          )}
          <span class="numbers">{percent === null ? `${tokensText(used)} tokens` : `${percent}%`}</span>
        </span>
      )}
      {cost !== null && <span class="session-fact numbers">{cost}</span>}
    </>
  )
}

function Tools({ session, view, onFind, onFork }: HeaderProps) {
  const can = abilitiesOf(view.agent)
  const row = rowOf(view.id)
  const isPaused = view.status === 'paused'
  const fork: MenuItem = { label: 'Fork: go on in a new session', icon: 'git-fork', run: onFork }
  return (
    <>
      <a class="button button-quiet" href={pathOf({ page: 'changes', id: view.id })}>
        <Icon name="file-diff" />
        Changes
      </a>
      <Button
        kind="quiet"
        icon="search"
        iconOnly
        label="Find in this session"
        shortcut="Control+F"
        onClick={onFind}
      />
      {(isPaused || (can?.pause && session.turn.value !== null)) && (
        <Button
          kind="quiet"
          icon={isPaused ? 'play' : 'pause'}
          iconOnly
          label={isPaused ? 'Resume' : 'Pause'}
          onClick={() => pause(view, !isPaused)}
        />
      )}
      <Menu
        kind="quiet"
        icon="ellipsis"
        iconOnly
        label="More"
        items={[...(can?.fork ? [fork] : []), ...(row ? rowMenu(row) : [])]}
      />
    </>
  )
}
