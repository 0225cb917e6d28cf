/** Without detours: `/tmp/../etc` is not below `/tmp`. */
export function straight(path: string): string {
  const steps: string[] = []
  for (const step of path.split('/')) {
    if (step === '..') steps.pop()
    else if (step !== '' && step !== '.') steps.push(step)
  }
  return `/${steps.join('/')}`
}

/** An absolute path as seen from a directory that it lies below; null when it does not. */
export function within(path: string, directory: string): string | null {
  const above = directory === '/' ? '/' : `${directory}/`
  return path.startsWith(above) && path.length > above.length ? path.slice(above.length) : null
}

export function hasDetour(path: string): boolean {
  return /(?:^|\/)\.\.(?:\/|$)/.test(path)
}
