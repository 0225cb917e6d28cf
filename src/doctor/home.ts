import { constants } from 'node:fs'
import { access, readdir, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Check, checksOf } from './check.ts'

export interface Home {
  path: string
  /** Null: there is none yet. */
  found: { directory: boolean; mode: number; mine: boolean } | null
  /** The directory itself, or the nearest one above that is there. */
  nearest: string
  writable: boolean
  /** Files in it that others may read, by their own rights. */
  exposed: string[]
  /** Bytes on its disk; null: it cannot be told. */
  free: number | null
}

const OTHERS = 0o077

export async function lookAtHome(path: string): Promise<Home> {
  const found = await stat(path).catch(() => null)
  const nearest = await nearestDirectory(path)
  return {
    path,
    found: found && {
      directory: found.isDirectory(),
      mode: found.mode & 0o777,
      mine: process.getuid === undefined || found.uid === process.getuid(),
    },
    nearest,
    writable: await access(nearest, constants.W_OK | constants.X_OK).then(
      () => true,
      () => false,
    ),
    exposed: found?.isDirectory() ? await exposedIn(path) : [],
    free: await statfs(nearest).then(
      ({ bavail, bsize }) => bavail * bsize,
      () => null,
    ),
  }
}

async function nearestDirectory(path: string): Promise<string> {
  const found = await stat(path).catch(() => null)
  return found?.isDirectory() || dirname(path) === path ? path : nearestDirectory(dirname(path))
}

async function exposedIn(path: string): Promise<string[]> {
  const names = await readdir(path).catch(() => [])
  const rights = await Promise.all(
    names.map(async (name) => {
      const file = await stat(join(path, name)).catch(() => null)
      return file?.isFile() && (file.mode & OTHERS) !== 0 ? [name] : []
    }),
  )
  return rights.flat().sort()
}

const { ok, skipped, warn, error } = checksOf('home')
const MIB = 1024 ** 2
const FULL = 100 * MIB
const SCARCE = 1024 * MIB

export function judgeHome(home: Home): Check[] {
  return [judgeDirectory(home), ...judgeRights(home), judgeSpace(home)]
}

const ANOTHER = 'name another directory with CORRAL_HOME or --home'

function judgeDirectory({ path, found, nearest, writable }: Home): Check {
  if (!writable) {
    const what = found
      ? `${path} cannot be written to`
      : `${path} cannot be made: ${nearest} cannot be written to`
    return error('data_dir', what, `give yourself the right to write there, or ${ANOTHER}`)
  }
  if (!found) return skipped('data_dir', `${path} is not there yet: the first \`corral start\` makes it`)
  if (!found.directory) return error('data_dir', `${path} is not a directory`, `move it away, or ${ANOTHER}`)
  if (!found.mine) {
    return warn('data_dir', `${path} belongs to another user`, `give it to yourself (chown), or ${ANOTHER}`)
  }
  return ok('data_dir', path)
}

/** Conversations are in there. What the directory keeps from others need not be kept from them a second time. */
function judgeRights({ path, found, exposed }: Home): Check[] {
  if (!found?.directory) return []
  if ((found.mode & OTHERS) === 0) return [ok('rights', 'only you can look inside')]
  const rights = found.mode.toString(8).padStart(4, '0')
  const open = exposed.length === 0 ? '' : `, and read ${listed(exposed)}`
  return [warn('rights', `other users can look inside (${rights})${open}`, `chmod 700 ${path}`)]
}

function listed(names: string[]): string {
  return names.length > 3 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ')
}

function judgeSpace({ nearest, free }: Home): Check {
  if (free === null) return skipped('disk_space', `how much is free on the disk of ${nearest} cannot be told`)
  const message = `${sized(free)} free on the disk of ${nearest}`
  if (free < FULL) return error('disk_space', message, 'free some space: nothing can be written down soon')
  if (free < SCARCE) return warn('disk_space', message, 'free some space before it runs out')
  return ok('disk_space', message)
}

export function sized(bytes: number): string {
  if (bytes < MIB) return `${Math.ceil(bytes / 1024)} KiB`
  return bytes < 1024 * MIB ? `${(bytes / MIB).toFixed(1)} MiB` : `${(bytes / 1024 / MIB).toFixed(1)} GiB`
}
