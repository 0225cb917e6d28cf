import { createHash } from 'node:crypto'
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createGunzip } from 'node:zlib'
import { checkLog, disownPast, hasLog } from '../store/snapshot.ts'
import { makeHome } from '../system/home.ts'
import { takeLock } from '../system/lock.ts'
import { kindOf, readManifest, type Manifest, type ManifestFile } from './content.ts'
import { createTaker, HEADER_BYTES, readHeader } from './tar.ts'

const MAX_MANIFEST = 16 * 1024 ** 2

export interface RestoreOptions {
  home: string
  source: string
  /** Also where there is data already: it is put aside. */
  force: boolean
}

export interface Restored {
  manifest: Manifest
  /** Where what was there before is now. */
  aside: string | null
}

/** Something is in the way that the user may want to keep. */
export class HomeInUse extends Error {}

/** Unpacks and checks everything before anything is put in place. Throws while a daemon runs. */
export async function restoreBackup({ home, source, force }: RestoreOptions): Promise<Restored> {
  makeHome(home)
  const lock = takeLock(join(home, 'lock'), join(home, 'run.json'))
  const work = mkdtempSync(join(home, '.restore-'))
  try {
    if (!force && existing(home).length > 0)
      throw new HomeInUse(
        `${home} has data already; with --force it is put aside, and the backup takes its place`,
      )
    const manifest = await unpack(source, work)
    const log = join(work, 'corral.db')
    checkLog(log)
    disownPast(log)
    const aside = putAside(home)
    putInPlace(work, home, manifest)
    return { manifest, aside }
  } finally {
    rmSync(work, { recursive: true, force: true })
    lock.release()
  }
}

/** Reads all of a backup and compares it with its manifest. */
export async function checkBackup(source: string, directory: string): Promise<Manifest> {
  const manifest = await unpack(source, directory)
  checkLog(join(directory, 'corral.db'))
  return manifest
}

async function unpack(source: string, directory: string): Promise<Manifest> {
  const compressed = createReadStream(source)
  const pieces = createGunzip()
  compressed.on('error', (error) => pieces.destroy(error))
  compressed.pipe(pieces)
  const taker = createTaker(pieces)
  try {
    const manifest = await manifestFrom(taker)
    for (const file of manifest.files) await unpackFile(taker, file, directory)
    if (readHeader(await taker.all(HEADER_BYTES)) !== null)
      throw new Error('the backup has more files than it says')
    return manifest
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code?.startsWith('Z_'))
      throw new Error(`${source} is no backup of Corral, or it is damaged`, { cause: error })
    throw error
  } finally {
    compressed.destroy()
    pieces.destroy()
  }
}

type Taker = ReturnType<typeof createTaker>

async function manifestFrom(taker: Taker): Promise<Manifest> {
  const entry = readHeader(await taker.all(HEADER_BYTES))
  if (entry?.name !== 'manifest.json' || entry.size > MAX_MANIFEST)
    throw new Error('this is no backup of Corral')
  const text = (await taker.all(entry.size)).toString('utf8')
  await taker.all(paddingAfter(entry.size))
  return readManifest(text)
}

async function unpackFile(taker: Taker, file: ManifestFile, directory: string): Promise<void> {
  const entry = readHeader(await taker.all(HEADER_BYTES))
  if (entry?.name !== file.path || entry.size !== file.size)
    throw new Error(`the backup is damaged at ${file.path}`)
  const path = join(directory, file.path)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const hash = createHash('sha256')
  const out = await open(path, 'wx', 0o600)
  try {
    for await (const piece of taker.upTo(file.size)) {
      hash.update(piece)
      await out.writeFile(piece)
    }
    await out.sync()
  } finally {
    await out.close()
  }
  await taker.all(paddingAfter(file.size))
  if (hash.digest('hex') !== file.sha256)
    throw new Error(`the backup is damaged: ${file.path} is not what its manifest says`)
}

function paddingAfter(size: number): number {
  return (HEADER_BYTES - (size % HEADER_BYTES)) % HEADER_BYTES
}

/** What a restored backup would replace: the parts of one, and what belongs to the log. A log without events is nothing. */
function existing(home: string): string[] {
  const parts = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter(
    (path) => kindOf(path) !== null,
  )
  const log = join(home, 'corral.db')
  const isFresh = existsSync(log) && (statSync(log).size === 0 || !hasLog(log))
  return isFresh ? parts.filter((path) => path !== 'corral.db') : parts
}

/** Nothing is deleted: it has another place from now on. Null: there was nothing. */
function putAside(home: string): string | null {
  const found = existing(home)
  // The log's own side files go where it goes; those of a log without events are worth nothing.
  const sides = ['corral.db', 'corral.db-wal', 'corral.db-shm']
  if (found.length === 0) {
    for (const name of sides) rmSync(join(home, name), { force: true })
    return null
  }
  const aside = join(home, `replaced-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`)
  for (const path of new Set([...found, ...sides, 'runs'])) {
    if (!existsSync(join(home, path))) continue
    mkdirSync(dirname(join(aside, path)), { recursive: true, mode: 0o700 })
    renameSync(join(home, path), join(aside, path))
  }
  return aside
}

/** The log last: where it is, everything is. */
function putInPlace(work: string, home: string, { files }: Manifest): void {
  const paths = files.map(({ path }) => path)
  for (const path of [...paths.filter((one) => one !== 'corral.db'), 'corral.db']) {
    mkdirSync(dirname(join(home, path)), { recursive: true, mode: 0o700 })
    renameSync(join(work, path), join(home, path))
  }
}
