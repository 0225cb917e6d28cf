import { chmodSync, renameSync, statSync, writeFileSync } from 'node:fs'

/** Whole or not at all, and for its owner only. */
export function replaceFile(path: string, content: string): void {
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, content, { mode: 0o600, flush: true })
  renameSync(draft, path)
}

/** True if others could read it until now. What is no file is left as it is: nobody could look into a directory any more. */
export function tighten(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat?.isFile() || process.platform === 'win32' || (stat.mode & 0o077) === 0) return false
  chmodSync(path, 0o600)
  return true
}
