import type { Engine } from '../core/api.ts'
import type { Device } from '../core/devices.ts'
import { createWebSockets, type WebSocketOptions, type WebSockets } from '../transports/websocket.ts'
import { tokenAccess, type TokenAccess } from './first-message.ts'
import type { Passes } from './passes.ts'
import type { Secret } from './secret.ts'
import { bearer, type TokenCheck } from './tokens.ts'

const POLICY = 1008
/** What `visits` calls the owner; no device has this id. */
const OWNER = ''

export interface EntranceParts {
  engine: Pick<Engine, 'events'>
  /** The owner's token. */
  secret: Secret
  /** The device that a token belongs to. */
  authenticate(token: string): Device | null
  /** Of web pages of ours. */
  passes?: Pick<Passes, 'find'>
}

/** Lets in whoever has the owner's token or a device's. When a token stops being valid, what it has opened is closed at once. */
export interface Entrance extends TokenCheck {
  /** WebSockets that ask for a token. */
  sockets(
    access: Pick<TokenAccess, 'code' | 'accept' | 'beforehand'>,
    options?: Omit<WebSocketOptions, 'accept' | 'authorize'>,
  ): WebSockets
  /** Calls `close` when the token of an `Authorization` header stops being valid. Returns how to stop waiting for that. */
  follow(authorization: string | undefined, close: () => void): () => void
  /** Somebody has signed out: what was opened with that pass is closed. */
  look(): void
  /** Closes its WebSockets with 1001. */
  close(): Promise<void>
}

interface Visit {
  holds(): boolean
  close(reason: string): void
}

export function createEntrance({ engine, secret, authenticate, passes }: EntranceParts): Entrance {
  const visits = createVisits(engine, secret)
  const served: WebSockets[] = []
  return {
    check(authorization) {
      const verdict = secret.check(authorization)
      if (verdict !== 'invalid') return verdict
      return authenticate(bearer(authorization)!) ? 'ok' : 'invalid'
    },
    sockets({ accept, ...access }, options = {}) {
      const entrance = tokenAccess({
        secret,
        authenticate,
        ...(passes && { passes }),
        ...access,
        accept(connection, visitor) {
          const handler = accept(connection, visitor)
          const close = (reason: string): void => connection.close(POLICY, reason)
          const leave = visits.begin(visitor.device, { holds: visitor.holds, close })
          return {
            ...handler,
            closed() {
              leave()
              handler.closed?.()
            },
          }
        },
      })
      const sockets = createWebSockets({ ...options, ...entrance })
      served.push(sockets)
      return sockets
    },
    follow(authorization, close) {
      const token = bearer(authorization)
      if (token === null) return () => {}
      if (secret.matches(token)) return visits.begin(null, { holds: () => secret.matches(token), close })
      const device = authenticate(token)
      return device ? visits.begin(device, { holds: () => true, close }) : () => {}
    },
    look: visits.look,
    async close() {
      visits.stop()
      await Promise.all(served.map((sockets) => sockets.close()))
    },
  }
}

/** What has been opened with which token. */
function createVisits(engine: EntranceParts['engine'], secret: Secret) {
  const visits = new Map<string, Set<Visit>>()
  const revoked = engine.events.subscribe(
    { after: engine.events.head, types: ['device.revoked'] },
    (events) => {
      for (const { event } of events) {
        if (event.type !== 'device.revoked') continue
        for (const visit of visits.get(event.deviceId) ?? []) visit.close('this device was put out')
      }
    },
  )
  const unwatch = secret.onTouched(() => {
    for (const visit of visits.get(OWNER) ?? []) if (!visit.holds()) visit.close('there is another token now')
  })
  return {
    /** Returns how to end it. */
    begin(device: Device | null, visit: Visit): () => void {
      const id = device?.id ?? OWNER
      const own = visits.get(id) ?? new Set<Visit>()
      visits.set(id, own.add(visit))
      return () => {
        own.delete(visit)
        if (own.size === 0 && visits.get(id) === own) visits.delete(id)
      }
    },
    look() {
      for (const visit of [...visits.values()].flatMap((own) => [...own])) {
        if (!visit.holds()) visit.close('signed out')
      }
    },
    stop() {
      revoked.close()
      unwatch()
    },
  }
}
