import type { KnownLimits, LimitWindow } from '../core/limits.ts'
import { clean, duration } from './format.ts'

const DAY = 24 * 60 * 60 * 1000

/** `plan plus: 5 h window 63 % used, resets 14:05; 7 d window 21 % used, resets Tue 09:00`. */
export function limitsText({ plan, windows, at }: KnownLimits, now: number): string {
  const known = windows.map((window) => windowText(window, now)).join('; ')
  const stale = `last reported ${duration(now - at)} ago, and reset since then`
  return `${plan === undefined ? '' : `plan ${clean(plan)}: `}${known || stale}`
}

function windowText({ name, usedPercent, lengthMs, resetsAt }: LimitWindow, now: number): string {
  const length = lengthMs === null ? '' : `${duration(lengthMs)} `
  // The name distinguishes windows of the same length.
  const about = /^(?:primary|secondary|five_hour|seven_day)$/.test(name) ? '' : ` (${clean(name)})`
  const resets = resetsAt === null ? '' : `, resets ${moment(resetsAt, now)}`
  return `${length}window${about} ${usedPercent} % used${resets}`
}

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

/** The time, with the day if it is more than 24 hours away. */
function moment(at: number, now: number): string {
  const time = new Date(at)
  const two = (value: number): string => String(value).padStart(2, '0')
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}`
  if (at - now < DAY) return clock
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`
  return `${at - now < 6 * DAY ? WEEKDAYS[time.getDay()] : day} ${clock}`
}
