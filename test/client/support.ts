import type { TestContext } from 'node:test'
import { connect as connectPage } from '../../src/client/browser.ts'
import { connect, type ConnectOptions, type Corral, type Session } from '../../src/client/node.ts'
import { tokenOf, webSocketOf } from '../dialects/native/support.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { freePort } from '../support/free-port.ts'

/** Its port stays the same when it is started again. */
export async function lastingDaemon(): Promise<TestDaemon> {
  return startDaemon({ env: { CORRAL_PORT: String(await freePort()) } })
}

export interface Way {
  name: string
  connect(daemon: TestDaemon, options?: ConnectOptions): Promise<Corral>
}

/** The ways to a daemon that a program or a page may go. */
export const WAYS: readonly Way[] = [
  { name: 'a socket', connect: (daemon, options) => connect({ home: daemon.corralHome, ...options }) },
  {
    name: 'a WebSocket of Node',
    connect: (daemon, options) => connect({ url: webSocketOf(daemon), token: tokenOf(daemon), ...options }),
  },
  {
    name: "a page's WebSocket",
    connect: (daemon, options) =>
      connectPage({ url: webSocketOf(daemon), token: tokenOf(daemon), ...options }),
  },
]

export async function corralFor(
  t: TestContext,
  way: Way,
  daemon: TestDaemon,
  options?: ConnectOptions,
): Promise<Corral> {
  const corral = await way.connect(daemon, options)
  t.after(() => corral.close())
  return corral
}

export function demo(corral: Corral, daemon: TestDaemon, mode: 'auto' | 'ask' = 'auto'): Promise<Session> {
  return corral.sessions.start({ agent: 'demo', directory: daemon.project, mode })
}
