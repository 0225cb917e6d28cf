import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'

/** Who runs here and where it listens: `$CORRAL_HOME/run.json`, for programs and scripts. */
export interface RunFile {
  pid: number
  version: string
  startedAt: string
  listeners: Record<string, string>
}

/** Whole or not at all: readers never see half of it. */
export function writeRunFile(path: string, content: RunFile): void {
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(content)}\n`, { mode: 0o600 })
  renameSync(draft, path)
}

/** Removes it, unless another daemon has written its own meanwhile. */
export function removeRunFile(path: string): void {
  try {
    const { pid } = JSON.parse(readFileSync(path, 'utf8')) as RunFile
    if (pid === process.pid) rmSync(path, { force: true })
  } catch {
    // Not there, or not ours to judge.
  }
}
