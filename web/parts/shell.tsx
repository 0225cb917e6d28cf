import type { ComponentChildren } from 'preact'
import type { IconName } from '../icons.ts'
import { pathOf, type PageName } from '../route.ts'
import { leave, status } from '../state/connection.ts'
import { waiting } from '../state/counts.ts'
import { isMac } from '../state/keys.ts'
import { overlay } from '../state/overlay.ts'
import { go } from '../state/router.ts'
import { isOutdated } from '../state/update.ts'
import { Badge } from './badge.tsx'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'
import { Menu, type MenuItem } from './menu.tsx'
import { StatusLine } from './status.tsx'
import { Toasts } from './toast.tsx'

interface Place {
  page: 'now' | 'inbox' | 'search' | 'relay' | 'system' | 'devices' | 'settings'
  label: string
  icon: IconName
}

const DAILY: readonly Place[] = [
  { page: 'now', label: 'Now', icon: 'activity' },
  { page: 'inbox', label: 'Inbox', icon: 'inbox' },
  { page: 'search', label: 'Search', icon: 'search' },
]

const REST: readonly Place[] = [
  { page: 'relay', label: 'Relay', icon: 'radio-tower' },
  { page: 'system', label: 'System', icon: 'layers' },
  { page: 'devices', label: 'Devices', icon: 'monitor-smartphone' },
  { page: 'settings', label: 'Settings', icon: 'settings' },
]

/** What is around every page. */
export function Shell({ at, children }: { at: PageName; children: ComponentChildren }) {
  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={skipToMain}>
        Skip to the page
      </a>
      <header class="shell-side">
        <div class="shell-brand">
          <img src="/icons/mark.svg" alt="" />
          Corral
        </div>
        <button type="button" class="shell-find" aria-keyshortcuts="Control+K" onClick={find}>
          <Icon name="search" />
          Find or do
          <kbd>{isMac() ? '⌘' : 'Ctrl '}K</kbd>
        </button>
        <nav class="nav-list" aria-label="Main">
          <Links places={DAILY} at={at} />
        </nav>
        <nav class="nav-list nav-list-rest" aria-label="More">
          <Links places={REST} at={at} />
        </nav>
        <div class="shell-foot">
          <StatusLine />
          <Button kind="quiet" icon="log-out" iconOnly label="Sign out" onClick={() => void leave()} />
        </div>
      </header>
      <main class="shell-main" id="main" tabIndex={-1}>
        <Notices />
        {children}
      </main>
      <Tabs at={at} />
      <Toasts />
    </div>
  )
}

function find(): void {
  overlay.value = 'palette'
}

/** A link to `#main` would be a page of its own to the router. */
function skipToMain(event: Event): void {
  event.preventDefault()
  document.getElementById('main')?.focus()
}

function Links({ places, at }: { places: readonly Place[]; at: PageName }) {
  return (
    <>
      {places.map(({ page, label, icon }) => (
        <a
          key={page}
          class="nav-link"
          href={pathOf({ page })}
          aria-current={at === page ? 'page' : undefined}
        >
          <Icon name={icon} />
          {label}
          {page === 'inbox' && <Waiting />}
        </a>
      ))}
    </>
  )
}

function Tabs({ at }: { at: PageName }) {
  const items: MenuItem[] = REST.map(({ page, label, icon }) => ({ label, icon, run: () => go({ page }) }))
  items.unshift({ label: 'Find or do', icon: 'search', run: find })
  items.push({ label: 'Sign out', icon: 'log-out', run: () => void leave() })
  return (
    <nav class="tabs" aria-label="Main">
      {DAILY.map(({ page, label, icon }) => (
        <a key={page} class="tab" href={pathOf({ page })} aria-current={at === page ? 'page' : undefined}>
          <Icon name={icon} />
          {label}
          {page === 'inbox' && <Waiting />}
        </a>
      ))}
      <Menu class="tab" label="More" icon="ellipsis" items={items} up />
    </nav>
  )
}

function Waiting() {
  const count = waiting.value
  if (count === 0) return null
  return (
    <Badge tone="accent" label={`, ${count} open`}>
      {count > 99 ? '99+' : count}
    </Badge>
  )
}

/** What the person has to know before trusting the page. */
function Notices() {
  return (
    <>
      {status.value === 'lost' && (
        <div class="notice" role="status">
          <Icon name="wifi-off" />
          Connection lost. What you see may be out of date; trying again.
        </div>
      )}
      {isOutdated.value && (
        <div class="notice" role="status">
          <Icon name="refresh-cw" />
          There is a new version of this page.
          <Button label="Reload" onClick={() => location.reload()} />
        </div>
      )}
    </>
  )
}
