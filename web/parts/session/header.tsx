import { useEffect, useRef, useState } from 'preact/hooks'
import type { SessionView } from '../../../src/dialects/native/wire.ts'
import { pathOf } from '../../route.ts'
import { abilitiesOf } from '../../state/abilities.ts'
import { contextPercent, costText, tokensText } from '../../state/row-words.ts'
import { titleOf } from '../../state/session-actions.ts'
import { pause, rename } from '../../state/configuring.ts'
import type { OpenSession } from '../../state/session.ts'
import { rowOf } from '../../state/sessions.ts'
import { Button } from '../button.tsx'
import { Icon } from '../icon.tsx'
import { inertLine } from '../inert.ts'
import { Menu, type MenuItem } from '../menu.tsx'
import { rowMenu } from '../row-menu.ts'
import { SettingMenus, SettingsDialog } from './settings.tsx'
import { StateLine } from './state.tsx'

interface HeaderProps {
  session: OpenSession
  view: SessionView
  onFind(): void
  onFork(): void
}

/** What the session is, how it stands, and what can be set about it. */
export function Header({ session, view, onFind, onFork }: HeaderProps) {
  const [isSetting, setSetting] = useState(false)
  const [isNaming, setNaming] = useState(false)
  const tools = {
    session,
    view,
    onFind,
    onFork,
    onSet: () => setSetting(true),
    onName: () => setNaming(true),
  }
  const row = rowOf(view.id)
  return (
    <header class="session-head">
      <Title view={view} isEditing={isNaming} setEditing={setNaming} />
      <StateLine session={session} view={view} />
      <span class="session-break" />
      <span class="session-where" title={view.cwd}>
        <Icon name={row?.worktree ? 'folder-git-2' : 'folder'} />
        <span class="muted">{view.agent}</span> {inertLine(shortPath(row?.worktreeOf ?? view.cwd))}
        {row?.worktree && ' (worktree)'}
      </span>
      <SettingMenus view={view} />
      <Meter view={view} />
      <Tools {...tools} />
      {isSetting && <SettingsDialog view={view} onClose={() => setSetting(false)} />}
    </header>
  )
}

/** The last two names of a path. */
function shortPath(path: string): string {
  const names = path.split('/').filter(Boolean)
  return names.length > 2 ? `…/${names.slice(-2).join('/')}` : path
}

interface TitleProps {
  view: SessionView
  isEditing: boolean
  setEditing(isEditing: boolean): void
}

function Title({ view, isEditing, setEditing }: TitleProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  const title = inertLine(rowOf(view.id)?.title ?? titleOf(view))
  useEffect(() => {
    document.title = `${title} · Corral`
  }, [title])
  useEffect(() => heading.current?.focus({ preventScroll: true }), [])
  if (isEditing) {
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
    <div class="session-title">
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
    </div>
  )
}

/** How full its context is, and what it has cost. */
function Meter({ view }: { view: SessionView }) {
  const row = rowOf(view.id)
  const percent = row && contextPercent(row)
  const { used, window } = row?.tokens ?? { used: null, window: null }
  const cost = costText(view.usage.costUsd)
  return (
    <span class="session-meters">
      {used !== null && (
        <span class="session-fact" title={window === null ? undefined : `${used} of ${window} tokens`}>
          {percent !== null && (
            <progress class="session-meter" max={100} value={percent} aria-label="Context used" />
          )}
          <span class="numbers">{percent === null ? `${tokensText(used)} tokens` : `${percent}%`}</span>
        </span>
      )}
      {cost !== null && <span class="session-fact numbers">{cost}</span>}
    </span>
  )
}

interface ToolsProps extends HeaderProps {
  onSet(): void
  onName(): void
}

function Tools({ session, view, onFind, onFork, onSet, onName }: ToolsProps) {
  const can = abilitiesOf(view.agent)
  const row = rowOf(view.id)
  const isPaused = view.status === 'paused'
  const items: MenuItem[] = [
    { label: 'Mode, model, thinking', icon: 'settings', run: onSet },
    { label: 'Rename', icon: 'pencil', run: onName },
    ...(can?.fork ? [{ label: 'Fork: go on in a new session', icon: 'git-fork' as const, run: onFork }] : []),
    ...(row ? rowMenu(row) : []),
  ]
  return (
    <span class="session-tools">
      <a class="button button-quiet" href={pathOf({ page: 'changes', id: view.id })} title="Changes">
        <Icon name="file-diff" />
        <span class="session-wide">Changes</span>
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
      <Menu kind="quiet" icon="ellipsis" iconOnly label="More" items={items} />
    </span>
  )
}
