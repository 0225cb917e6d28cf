import { createHash } from 'node:crypto'
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { copyFile, open, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createGzip } from 'node:zlib'
import { snapshotLog } from '../store/snapshot.ts'
import { FOLDERS, FORMAT, kindOf, type Manifest, type ManifestFile } from './content.ts'
import { END, headerOf, paddingOf } from './tar.ts'

export interface BackupOptions {
  /** The data directory. */
  home: string
  /** The file to write; nobody but its owner can read it. */
  target: string
  version: string
  withSecrets: boolean
  /** Left out of a backup without secrets although they usually are no secret. */
  secretToo: readonly string[]
}

/** A file of the backup, and where its bytes are. */
interface Source extends ManifestFile {
  from: string
}

/** Writes the backup; it has another name until it is complete. */
export async function makeBackup(options: BackupOptions): Promise<Manifest> {
  const { home, target, version, withSecrets } = options
  const work = mkdtempSync(join(dirname(target), '.corral-backup-'))
  const part = join(work, 'backup')
  try {
    // Copied first: what they say about the log may be older than it, and never newer.
    const others = await copyOthers(options, work)
    const facts = snapshotLog(join(home, 'corral.db'), join(work, 'corral.db'))
    const sources = [await sourceOf('corral.db', join(work, 'corral.db')), ...others]
    const files = sources.map(({ path, size, sha256 }) => ({ path, size, sha256 }))
    const createdAt = new Date()
    const manifest: Manifest = {
      format: FORMAT,
      version,
      createdAt: createdAt.toISOString(),
      ...facts,
      secrets: withSecrets,
      files,
    }
    const gzip = createGzip({ level: constants.Z_BEST_SPEED })
    await pipeline(
      Readable.from(archive(manifest, sources, createdAt)),
      gzip,
      createWriteStream(part, { mode: 0o600 }),
    )
    await synced(part)
    await rename(part, target)
    return manifest
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

async function* archive(manifest: Manifest, sources: readonly Source[], at: Date): AsyncGenerator<Buffer> {
  const head = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)
  yield* [headerOf({ name: 'manifest.json', size: head.length }, at), head, paddingOf(head.length)]
  for (const { path, size, from } of sources) {
    yield headerOf({ name: path, size }, at)
    for await (const piece of createReadStream(from)) yield piece as Buffer
    yield paddingOf(size)
  }
  yield END
}

/** The daemon may write to them while we read: what is put in is a copy that stands still. */
async function copyOthers(options: BackupOptions, work: string): Promise<Source[]> {
  const copies: Source[] = []
  for (const [index, path] of filesOf(options).entries()) {
    const copy = join(work, `file-${index}`)
    try {
      await copyFile(join(options.home, path), copy)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue // it was there a moment ago
      throw error
    }
    copies.push(await sourceOf(path, copy))
  }
  return copies
}

function filesOf({ home, withSecrets, secretToo }: BackupOptions): string[] {
  const paths = FOLDERS.flatMap((folder) => {
    const directory = join(home, folder)
    const names = existsSync(directory) ? readdirSync(directory) : []
    return names.toSorted().map((name) => (folder === '' ? name : `${folder}/${name}`))
  })
  return paths.filter((path) => {
    const kind = secretToo.includes(path) ? 'secret' : kindOf(path)
    const isWanted = path !== 'corral.db' && (kind === 'data' || (kind === 'secret' && withSecrets))
    return isWanted && statSync(join(home, path), { throwIfNoEntry: false })?.isFile()
  })
}

async function sourceOf(path: string, from: string): Promise<Source> {
  const hash = createHash('sha256')
  let size = 0
  for await (const piece of createReadStream(from)) {
    hash.update(piece as Buffer)
    size += (piece as Buffer).length
  }
  return { path, from, size, sha256: hash.digest('hex') }
}

async function synced(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
