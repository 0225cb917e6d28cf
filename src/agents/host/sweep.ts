import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { commandLine, signalGroup } from './process.ts'
import { runFiles } from './wrapper.ts'

/** Ends and removes what earlier daemons started and never wrote down, or what is over and done with. */
export function sweep(runsDir: string, known: ReadonlySet<string>): void {
  for (const id of readdirSync(runsDir)) {
    if (known.has(id)) continue
    const dir = join(runsDir, id)
    const pid = readPid(runFiles(dir).pid)
    // The pid may be somebody else's by now: only a process that names this very directory is ours.
    if (pid !== null && commandLine(pid)?.includes(dir)) signalGroup(pid, 'SIGKILL')
    rmSync(dir, { recursive: true, force: true })
  }
}

function readPid(path: string): number | null {
  try {
    const pid = Number.parseInt(readFileSync(path, 'utf8'), 10)
    return Number.isNaN(pid) ? null : pid
  } catch {
    return null
  }
}
