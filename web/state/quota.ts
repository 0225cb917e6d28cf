/** A window of an account: so much of it is used, and then it begins anew. */
export interface QuotaWindow {
  name: string
  usedPercent: number
  lengthMs: number | null
  resetsAt: number | null
}

export type QuotaTone = 'good' | 'needs' | 'bad'

/** How near the end is. */
export function quotaTone({ usedPercent }: Pick<QuotaWindow, 'usedPercent'>): QuotaTone {
  if (usedPercent >= 95) return 'bad'
  return usedPercent >= 75 ? 'needs' : 'good'
}

/** The window that ends first binds: that one is shown first. */
export function byTightness<W extends QuotaWindow>(windows: readonly W[]): W[] {
  return windows.toSorted((a, b) => b.usedPercent - a.usedPercent)
}

const HOUR = 60 * 60 * 1000
const DAY = 24 * HOUR

/** The window for people: its length, and what distinguishes it from others as long. */
export function windowName({ name, lengthMs }: Pick<QuotaWindow, 'name' | 'lengthMs'>): string {
  const special = name.replace(/^(?:primary|secondary|five_hour|seven_day)_?/, '').replaceAll('_', ' ')
  if (lengthMs === null) return special || name
  return special === '' ? lengthName(lengthMs) : `${lengthName(lengthMs)}, ${special}`
}

function lengthName(ms: number): string {
  const [count, unit] = ms % DAY === 0 ? [ms / DAY, 'day'] : [Math.round(ms / HOUR), 'hour']
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

export function leftPercent({ usedPercent }: Pick<QuotaWindow, 'usedPercent'>): number {
  return Math.max(0, Math.min(100, Math.round(100 - usedPercent)))
}
