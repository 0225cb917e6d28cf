import { constants } from 'node:fs'
import { copyFile, lstat, utimes } from 'node:fs/promises'

/**
 * Copies an index, unless there is a copy already or nothing to copy. The copy is as old as the original: git looks into files
 * that may have changed after their index was written, within the same second, and only into those.
 */
export async function copyIndex(from: string, to: string): Promise<void> {
  const found = await lstat(from).catch(() => null)
  if (!found?.isFile()) return
  const copied = await copyFile(from, to, constants.COPYFILE_EXCL).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST' && error.code !== 'ENOENT') throw error
      return false
    },
  )
  const written = Math.floor(found.mtimeMs / 1000)
  if (copied) await utimes(to, written, written)
}
