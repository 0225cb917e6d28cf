import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { arrival } from '../../test/support/wait.ts'
import { fillLog, type FilledLog } from './fill.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Where benchmarks get directories and processes; all of it is gone after `close`. */
export interface Workshop {
  /** The built program, a copy of its own: whoever builds meanwhile changes nothing here. */
  readonly program: string
  /** A new directory. */
  directory(): string
  spawn(command: string, args: string[], options: SpawnOptions): ChildProcess
  /** A data directory with many sessions and events, filled once for everybody. */
  filled(): Promise<FilledLog>
  close(): Promise<void>
}

export function openWorkshop(): Workshop {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'corral-bench-')))
  const children = new Set<ChildProcess>()
  let directories = 0
  let filled: Promise<FilledLog> | null = null
  // Side by side, as they are installed: the program reads its version from the manifest.
  cpSync(join(ROOT, 'dist'), join(root, 'program', 'dist'), { recursive: true })
  cpSync(join(ROOT, 'package.json'), join(root, 'program', 'package.json'))

  function directory(): string {
    const path = join(root, String(++directories))
    mkdirSync(path)
    return path
  }

  return {
    program: join(root, 'program', 'dist', 'main.js'),
    directory,
    spawn(command, args, options) {
      const child = spawn(command, args, options)
      children.add(child)
      child.once('exit', () => children.delete(child))
      return child
    },
    filled: () => (filled ??= fillLog(directory())),
    async close() {
      await Promise.all([...children].map((child) => end(child)))
      rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    },
  }
}

/** Ends a process of ours: a daemon ends its agents too. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  await arrival(gone, `${child.spawnargs.join(' ')} ends`).finally(() => child.kill('SIGKILL'))
}
