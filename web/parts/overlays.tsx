import { go } from '../state/router.ts'
import { flagging, overlay } from '../state/overlay.ts'
import { lazy } from './lazy.tsx'
import { useKeys } from './use-keys.ts'

const Palette = lazy('palette', async () => (await import('./palette.tsx')).Palette)
const KeyHelp = lazy('palette', async () => (await import('./key-help.tsx')).KeyHelp)
const FlagsDialog = lazy('flags', async () => (await import('./flags-dialog.tsx')).FlagsDialog)
const NewSession = lazy('new-session', async () => (await import('./new-session.tsx')).NewSession)

/** What can be called up from everywhere, and the keys for it. */
export function Overlays() {
  const close = (): void => void (overlay.value = null)
  useKeys('anywhere', {
    palette: () => void (overlay.value = overlay.value === 'palette' ? null : 'palette'),
    help: () => void (overlay.value = 'keys'),
    new: () => void (overlay.value = 'new'),
    goNow: () => go({ page: 'now' }),
    goInbox: () => go({ page: 'inbox' }),
    goSearch: () => go({ page: 'search' }),
  })
  return (
    <div class="overlays">
      {overlay.value === 'palette' && <Palette onClose={close} />}
      {overlay.value === 'keys' && <KeyHelp onClose={close} />}
      {flagging.value !== null && <FlagsDialog id={flagging.value} onClose={() => (flagging.value = null)} />}
      {overlay.value === 'new' && <NewSession onClose={close} />}
    </div>
  )
}
