const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** `812 B`, `1.4 MB`, `23 GB`. */
export function bytes(count: number): string {
  let [value, unit] = [count, 0]
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${unit > 0 && value < 10 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}`
}

/** `7`, `950`, `1.2k`, `34k`, `5.6M`. */
export function count(value: number): string {
  if (value < 1000) return String(Math.round(value))
  if (value < 999_500) return `${short(value / 1000)}k`
  return `${short(value / 1_000_000)}M`
}

function short(value: number): string {
  return value < 9.95 ? value.toFixed(1) : String(Math.round(value))
}

/** `$0`, `<$0.01`, `$0.42`, `$128`. */
export function usd(value: number): string {
  if (value === 0) return '$0'
  if (value < 0.01) return '<$0.01'
  return value < 100 ? `$${value.toFixed(2)}` : `$${Math.round(value).toLocaleString('en')}`
}


/** `1 file`, `3 files`. */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${value.toLocaleString('en')} ${value === 1 ? one : many}`
}

/** At an axis: there is no half call. */
export function wholeTick(value: number): string {
  return Number.isInteger(value) ? count(value) : ''
}

export function usdTick(value: number): string {
  return value === 0 || value >= 1 ? usd(value) : `$${value.toPrecision(1)}`
}
