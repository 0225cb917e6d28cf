import type { SessionQuery } from './ports.ts'
import type { Session } from './session.ts'

/** Where a list of sessions goes on, as a text that means nothing to clients. */
export function encodePage({ activeAt, id }: Session): string {
  return Buffer.from(JSON.stringify([activeAt, id])).toString('base64url')
}

/** Null when it is none that `encodePage` made. */
export function decodePage(text: string): NonNullable<SessionQuery['before']> | null {
  try {
    const [activeAt, id] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[]
    return typeof activeAt === 'number' && typeof id === 'string' ? { activeAt, id } : null
  } catch {
    return null
  }
}
