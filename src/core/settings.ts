import { CorralError } from './error.ts'
import type { SessionSettings } from './session.ts'

/** Settings that can be written down, and mean the same wherever the daemon was started. */
export function mustBeSound(settings: SessionSettings | undefined): void {
  try {
    JSON.stringify(settings)
  } catch (error) {
    throw new CorralError('invalid', 'settings: nested too deeply', { field: 'settings' }, error)
  }
  const relative = settings?.additionalDirectories?.find((path) => !path.startsWith('/'))
  if (relative === undefined) return
  const field = 'settings.additionalDirectories'
  throw new CorralError('invalid', `${field}: not an absolute path: ${relative}`, { field })
}
