import { effect, signal } from '@preact/signals'

export type Theme = 'system' | 'light' | 'dark'

const KEY = 'corral.theme'

/** What the person has chosen for this browser. */
export const theme = signal<Theme>(stored())

export function applyTheme(): void {
  effect(() => {
    const { dataset } = document.documentElement
    if (theme.value === 'system') delete dataset['theme']
    else dataset['theme'] = theme.value
    try {
      localStorage.setItem(KEY, theme.value)
    } catch {
      // it holds until the page is left
    }
  })
}

function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY)
    return value === 'light' || value === 'dark' ? value : 'system'
  } catch {
    return 'system'
  }
}
