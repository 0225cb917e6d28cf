import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** As much of a git repository as it takes to be one. */
export function makeRepository(path: string): string {
  mkdirSync(join(path, '.git', 'objects'), { recursive: true })
  writeFileSync(join(path, '.git', 'HEAD'), 'ref: refs/heads/main\n')
  return path
}
