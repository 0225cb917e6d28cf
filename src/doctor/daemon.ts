import { type Check, checksOf } from './check.ts'

/** What a daemon has to say about a listener of its own. */
export interface ListenerReport {
  name: string
  address: string | null
  /** Why it is not there, or not where it should be. */
  problem: string | null
}

/** What a client finds at the daemon's socket. */
export type SocketState =
  | { kind: 'running'; version: string; pid: number }
  /** Somebody listens and says nothing. */
  | { kind: 'silent' }
  /** Nobody listens; a process that said it would may still be there. */
  | { kind: 'absent'; pid: number | null }

const { ok, skipped, warn, error } = checksOf('daemon')

export function judgeSocket(found: SocketState, socket: string, ownVersion: string): Check[] {
  switch (found.kind) {
    case 'absent':
      return [
        found.pid === null
          ? skipped('daemon', 'not running', 'start it: corral start --detach')
          : warn(
              'daemon',
              `process ${found.pid} calls itself the daemon, but nobody listens on ${socket}`,
              `look at corral.log; if that process is not Corral's, corral start --detach`,
            ),
      ]
    case 'silent':
      return [
        error(
          'daemon',
          `somebody listens on ${socket} and does not answer`,
          'corral restart, or end that process',
        ),
      ]
    case 'running': {
      const { version, pid } = found
      const running = ok('daemon', `running, pid ${pid}, answers on ${socket}`)
      const same = version === ownVersion
      return [
        running,
        same
          ? ok('version', `${version}, the same as this command`)
          : warn('version', `the daemon is ${version}, this command ${ownVersion}`, 'corral restart'),
      ]
    }
  }
}

export function listenerReports(
  addresses: Readonly<Record<string, string>>,
  troubles: Readonly<Record<string, string>>,
): ListenerReport[] {
  const names = [...new Set([...Object.keys(addresses), ...Object.keys(troubles)])]
  return names.map((name) => ({ name, address: addresses[name] ?? null, problem: troubles[name] ?? null }))
}

export function judgeListeners(listeners: readonly ListenerReport[]): Check[] {
  return listeners.map(({ name, address, problem }) => {
    const check = `listener_${name}`
    if (problem === null) return ok(check, address ?? '')
    return warn(
      check,
      address === null ? `${name} is not listening: ${problem}` : `${address}: ${problem}`,
      'end what is in its place or choose another (docs/configuration.md), then corral restart',
    )
  })
}
