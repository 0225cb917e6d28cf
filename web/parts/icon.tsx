import { SPRITE } from 'corral:assets'
import type { IconName } from '../icons.ts'

/** Drawn in the colour of the text around it. Without a label it is decoration, and nothing is read out. */
export function Icon({ name, label }: { name: IconName; label?: string }) {
  const spoken =
    label === undefined ? { 'aria-hidden': true as const } : { role: 'img' as const, 'aria-label': label }
  return (
    <svg class="icon" {...spoken}>
      <use href={`${SPRITE}#${name}`} />
    </svg>
  )
}
