/** Errors keep Corral from working, warnings from working well; what was skipped is not there to be looked at. */
export type Status = 'ok' | 'warn' | 'error' | 'skipped'

export const GROUPS = ['machine', 'home', 'configuration', 'daemon', 'agents'] as const
export type Group = (typeof GROUPS)[number]

export interface Check {
  group: Group
  /** For programs: it stays the same. */
  name: string
  status: Status
  /** What was found, in one line. */
  message: string
  /** What to do about it; null when there is nothing to do. */
  fix: string | null
}

/** Checks of one group. */
export function checksOf(group: Group) {
  return {
    ok: (name: string, message: string): Check => ({ group, name, status: 'ok', message, fix: null }),
    skipped: (name: string, message: string, fix: string | null = null): Check => ({
      group,
      name,
      status: 'skipped',
      message,
      fix,
    }),
    warn: (name: string, message: string, fix: string): Check => ({
      group,
      name,
      status: 'warn',
      message,
      fix,
    }),
    error: (name: string, message: string, fix: string): Check => ({
      group,
      name,
      status: 'error',
      message,
      fix,
    }),
  }
}

export function overall(checks: readonly Check[]): 'ok' | 'warn' | 'error' {
  const has = (status: Status): boolean => checks.some((check) => check.status === status)
  return has('error') ? 'error' : has('warn') ? 'warn' : 'ok'
}
