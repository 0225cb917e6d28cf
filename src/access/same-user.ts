import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { type Guard, HttpError } from '../transports/http.ts'
import { loopbackGuard } from './guard.ts'

/*
 * A port on loopback is open to every user of the machine. Linux tells whose a connection is: the other end of it is a line
 * in the table of connections, with the number of its user.
 */

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6']

/**
 * Refuses requests of this machine's other users, root aside. Who is gone when that is looked up is refused as well: it
 * may have been anybody. Where nobody can be told apart, nobody is refused.
 */
export function sameUserGuard(next: Guard, readTable: (path: string) => string = read): Guard {
  const own = process.getuid?.()
  const known = new WeakMap<Socket, boolean>()
  const metAt = new WeakMap<Socket, number>()
  let tables = new Map<string, string>()
  let readings = 0

  /** Those that were read since the connection is there tell about it; reading them takes milliseconds. */
  function tablesFor(socket: Socket): (path: string) => string {
    if ((metAt.get(socket) ?? readings) >= readings) {
      readings += 1
      tables = new Map()
    }
    return (path) => {
      const text = tables.get(path) ?? readTable(path)
      tables.set(path, text)
      return text
    }
  }

  function isForeign(socket: Socket): boolean {
    if (own === undefined) return false
    const before = known.get(socket)
    if (before !== undefined) return before
    const user = userAcross(socket, tablesFor(socket))
    const foreign = user === 'gone' || (user !== null && user !== own && user !== 0)
    known.set(socket, foreign)
    return foreign
  }

  const guard: Guard = (req) => {
    if (isForeign(req.socket)) {
      const why = 'Forbidden: this daemon belongs to another user (setting http.otherUsers lets you in)'
      return new HttpError(403, why)
    }
    return next(req)
  }
  guard.meet = (socket) => void metAt.set(socket, readings)
  return guard
}

/** For a listener that only this machine reaches, and that asks for no token. */
export function localGuard(otherUsers: boolean): Guard {
  return otherUsers ? loopbackGuard() : sameUserGuard(loopbackGuard())
}

/** The user at the other end of a connection within this machine; null when the tables do not tell. */
function userAcross(socket: Socket, table: (path: string) => string): number | 'gone' | null {
  const { remoteAddress, remotePort, localAddress, localPort } = socket
  if (remotePort === undefined || localPort === undefined) return 'gone'
  const theirs = endOf(remoteAddress, remotePort)
  const ours = endOf(localAddress, localPort)
  const line = new RegExp(
    String.raw`^\s*\d+: ${theirs} ${ours} \S+ \S+ \S+ \S+\s+(\d+)\s+\d+ ([1-9]\d*)`,
    'm',
  )
  // An end without an inode is one that its process has closed: whose it was is not told, or told as root's.
  for (const path of TABLES) {
    const user = line.exec(table(path))?.[1]
    if (user !== undefined) return Number(user)
  }
  const listed = new RegExp(String.raw`^\s*\d+: [0-9A-F]+:${hex(localPort, 4)} `, 'm')
  return TABLES.some((path) => listed.test(table(path))) ? 'gone' : null
}

/** One end of a connection as the tables write it; IPv4 may stand at the end of an IPv6 address. */
function endOf(address = '', port: number): string {
  const bytes = address
    .replace(/^::ffff:/i, '')
    .split('.')
    .map(Number)
  const word =
    bytes.length === 4
      ? `[0-9A-F]*${bytes
          .toReversed()
          .map((byte) => hex(byte, 2))
          .join('')}`
      : V6
  return `${word}:${hex(port, 4)}`
}

/** Of IPv6 only the loopback address gets here. */
const V6 = `${'0'.repeat(24)}01000000`

function hex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, '0')
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return '' // not Linux, or not to be seen
  }
}
