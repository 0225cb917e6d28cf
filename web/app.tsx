import type { ComponentType } from 'preact'
import { Shell } from './parts/shell.tsx'
import { lazy } from './parts/lazy.tsx'
import { Overlays } from './parts/overlays.tsx'
import { Toasts } from './parts/toast.tsx'
import { InboxPage } from './pages/inbox.tsx'
import { NowPage } from './pages/now.tsx'
import { SessionPage } from './pages/session.tsx'
import { UnknownPage } from './pages/unknown.tsx'
import type { Route } from './route.ts'
import { status } from './state/connection.ts'
import { route } from './state/router.ts'

const ChangesPage = lazy('changes', async () => (await import('./pages/changes.tsx')).ChangesPage)
const SearchPage = lazy('search', async () => (await import('./pages/search.tsx')).SearchPage)
const RelayPage = lazy('relay', async () => (await import('./pages/relay.tsx')).RelayPage)
const SystemPage = lazy('system', async () => (await import('./pages/system.tsx')).SystemPage)
const DevicesPage = lazy('devices', async () => (await import('./pages/devices.tsx')).DevicesPage)
const SettingsPage = lazy('settings', async () => (await import('./pages/settings.tsx')).SettingsPage)
const WelcomePage = lazy('welcome', async () => (await import('./pages/welcome.tsx')).WelcomePage)
const SignInPage = lazy('signin', async () => (await import('./pages/signin.tsx')).SignInPage)

/** Pages that are about nothing in particular. */
const PLAIN: Record<Exclude<Route['page'], 'session' | 'changes' | 'signin'>, ComponentType> = {
  now: NowPage,
  inbox: InboxPage,
  search: SearchPage,
  relay: RelayPage,
  system: SystemPage,
  devices: DevicesPage,
  settings: SettingsPage,
  welcome: WelcomePage,
  unknown: UnknownPage,
}

export function App() {
  const at = route.value
  if (at.page === 'signin' || status.value === 'signed_out') {
    return (
      <>
        <SignInPage />
        <Toasts />
      </>
    )
  }
  return (
    <>
      <Shell at={at.page}>
        <CurrentPage at={at} />
      </Shell>
      <Overlays />
    </>
  )
}

function CurrentPage({ at }: { at: Route }) {
  if (at.page === 'session') return <SessionPage key={at.id} id={at.id} />
  if (at.page === 'changes') return <ChangesPage key={at.id} id={at.id} />
  if (at.page === 'signin') return null
  const Plain = PLAIN[at.page]
  return <Plain key={at.page} />
}
