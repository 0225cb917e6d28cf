import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface SmallDisk {
  path: string
  remount(options: string): void
  remove(): void
}

/** A file system of its own with a size of its own; null where mounting is not allowed. */
export function mountSmallDisk(megabytes: number): SmallDisk | null {
  const path = mkdtempSync(join(tmpdir(), 'corral-disk-'))
  const run = (...args: string[]): void => void execFileSync(args[0]!, args.slice(1), { stdio: 'ignore' })
  try {
    run('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path)
  } catch {
    rmSync(path, { recursive: true, force: true })
    return null
  }
  return {
    path,
    remount: (options) => run('mount', '-o', `remount,${options}`, path),
    remove() {
      run('umount', '-l', path)
      rmSync(path, { recursive: true, force: true })
    },
  }
}
