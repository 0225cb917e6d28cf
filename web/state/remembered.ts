import { effect, signal, type Signal } from '@preact/signals'

/** A choice of this browser's, kept in its storage. What is found there and is not `valid` counts as nothing. */
export function remembered<T>(name: string, otherwise: T, valid: (value: unknown) => value is T): Signal<T> {
  const key = `corral.${name}`
  const choice = signal(stored(key, otherwise, valid))
  effect(() => {
    try {
      localStorage.setItem(key, JSON.stringify(choice.value))
    } catch {
      // it holds until the page is left
    }
  })
  return choice
}

function stored<T>(key: string, otherwise: T, valid: (value: unknown) => value is T): T {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? 'null')
    return valid(value) ? value : otherwise
  } catch {
    return otherwise
  }
}

export function oneOf<const T extends string>(...values: T[]): (value: unknown) => value is T {
  return (value): value is T => (values as unknown[]).includes(value)
}

export function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.length <= 1000 && value.every((one) => typeof one === 'string')
}
