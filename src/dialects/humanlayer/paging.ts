import type { SessionQuery } from '../../core/ports.ts'
import type { Session } from '../../core/session.ts'
import { wrong } from './wire.ts'

/** Where a list goes on; opaque to clients. */
export function encodePage({ activeAt, id }: Session): string {
  return Buffer.from(JSON.stringify([activeAt, id])).toString('base64url')
}

export function decodePage(text: string): NonNullable<SessionQuery['before']> {
  try {
    const [activeAt, id] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[]
    if (typeof activeAt === 'number' && typeof id === 'string') return { activeAt, id }
  } catch {
    // the same answer below
  }
  throw wrong('invalid request: cursor: not one that listSessions gave out', 'cursor')
}
