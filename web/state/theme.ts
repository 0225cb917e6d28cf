import { effect } from '@preact/signals'
import { oneOf, remembered } from './remembered.ts'

export type Theme = 'system' | 'light' | 'dark'
export type TextSize = 'small' | 'normal' | 'large' | 'larger'
export type Density = 'comfortable' | 'compact'

/** What the person has chosen for this browser. */
export const theme = remembered<Theme>('theme', 'system', oneOf('system', 'light', 'dark'))
export const textSize = remembered<TextSize>(
  'text-size',
  'normal',
  oneOf('small', 'normal', 'large', 'larger'),
)
export const density = remembered<Density>('density', 'comfortable', oneOf('comfortable', 'compact'))

/** The style sheets look at attributes of the root; what is as usual has none. */
export function applyTheme(): void {
  effect(() => note('theme', theme.value, 'system'))
  effect(() => note('size', textSize.value, 'normal'))
  effect(() => note('density', density.value, 'comfortable'))
}

function note(name: string, value: string, usual: string): void {
  const { dataset } = document.documentElement
  if (value === usual) delete dataset[name]
  else dataset[name] = value
}
