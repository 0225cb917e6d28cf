/** One line of the table. */
export interface Row {
  name: string
  value: number
  unit: 'ms' | '/s' | 'MB' | 'KB' | '×' | 'kB' | 'px' | '%'
  /** Against the bare thing that was measured in the same run. */
  ratio?: number
  target?: Target
  note?: string
}

export interface Target {
  of: 'value' | 'ratio'
  at: 'most' | 'least'
  limit: number
}

/** Measurements that could not be made here. */
export interface Skipped {
  name: string
  skipped: string
}

export type Result = Row | Skipped

/** null where there is nothing to meet. */
export function met({ target, value, ratio }: Row): boolean | null {
  if (!target) return null
  const measured = target.of === 'ratio' ? (ratio ?? Number.NaN) : value
  return target.at === 'most' ? measured <= target.limit : measured >= target.limit
}

export const atMost = (limit: number, of: Target['of'] = 'value'): Target => ({ of, at: 'most', limit })
export const atLeast = (limit: number, of: Target['of'] = 'value'): Target => ({ of, at: 'least', limit })
