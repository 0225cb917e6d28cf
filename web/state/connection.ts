import { signal } from '@preact/signals'
import { connect, type Status, type WebClient } from '../client/client.ts'
import { signOut, whoami, type Whoami } from '../client/pass.ts'
import { route } from './router.ts'
import { isOutdated, lookForUpdate } from './update.ts'

/** Whether what is on the screen is live. */
export const status = signal<Status>('connecting')

/** Who uses this page; null until the daemon has said so. */
export const me = signal<Whoami | null>(null)

let made: WebClient | null = null

/** The one client of this page; it is made when it is first wanted. */
export function client(): WebClient {
  made ??= connect({
    url: `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/native`,
    onStatus(next) {
      status.value = next
      if (next !== 'live') return
      void learn()
      lookForUpdate()
    },
  })
  return made
}

async function learn(): Promise<void> {
  const answer = await whoami().catch(() => null)
  if (!answer) return
  const before = me.value?.version ?? answer.version
  if (before !== answer.version) isOutdated.value = true
  me.value = answer
}

/** Connects, and tries at once when the network is back or the page is looked at again. Who is signing in has no use for it. */
export function keepConnected(): void {
  if (route.value.page === 'signin') return
  client()
  // A daemon on this very machine is there without a network, too: it is asked.
  for (const change of ['online', 'offline']) addEventListener(change, () => client().nudge())
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') client().nudge()
  })
}

/** Signs out, in every tab of this browser. */
export async function leave(): Promise<void> {
  await signOut()
  made?.close()
  status.value = 'signed_out'
}
