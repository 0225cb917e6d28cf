import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { type Guard, HttpError } from '../transports/http.ts'
import { loopbackGuard } from './guard.ts'

/*
 * A port on loopback is open to every user of the machine. Linux tells whose a connection is: the other end of it is a line
 * in the table of connections, with the number of its user.
 */

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6']

/** Refuses requests of this machine's other users, root aside. Where it cannot be told whose they are, nobody is refused. */
export function sameUserGuard(next: Guard, readTable: (path: string) => string = read): Guard {
  const own = process.getuid?.()
  const known = new WeakMap<Socket, boolean>()

  function isForeign(socket: Socket): boolean {
    if (own === undefined) return false
    const before = known.get(socket)
    if (before !== undefined) return before
    const user = userAcross(socket, readTable)
    const foreign = user !== null && user !== own && user !== 0
    known.set(socket, foreign)
    return foreign
  }

  return (req) => {
    if (isForeign(req.socket)) {
      const why = 'Forbidden: this daemon belongs to another user (setting http.otherUsers lets you in)'
      return new HttpError(403, why)
    }
    return next(req)
  }
}

/** For a listener that only this machine reaches, and that asks for no token. */
export function localGuard(otherUsers: boolean): Guard {
  return otherUsers ? loopbackGuard() : sameUserGuard(loopbackGuard())
}

/** The user at the other end of a connection within this machine; null when that cannot be told. */
function userAcross({ remotePort, localPort }: Socket, readTable: (path: string) => string): number | null {
  if (remotePort === undefined || localPort === undefined) return null
  const [theirs, ours] = [remotePort, localPort].map((port) =>
    port.toString(16).toUpperCase().padStart(4, '0'),
  )
  const line = new RegExp(
    String.raw`^\s*\d+: [0-9A-F]+:${theirs} [0-9A-F]+:${ours} \S+ \S+ \S+ \S+\s+(\d+)`,
    'm',
  )
  for (const table of TABLES) {
    const user = line.exec(readTable(table))?.[1]
    if (user !== undefined) return Number(user)
  }
  return null
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return '' // not Linux, or not to be seen
  }
}
