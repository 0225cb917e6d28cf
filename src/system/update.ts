import { createHash, type KeyObject } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { together } from '../core/together.ts'
import { download, downloadText } from './download.ts'
import { readPublicKey, type Release, verifiedRelease } from './release.ts'
import { compareVersions } from './version.ts'

export interface UpdateSettings {
  /** Where the newest release is described; null: nobody is asked. */
  feed: string | null
  /** Who must have signed it. */
  publicKey: string | null
}

export interface UpdateOptions {
  settings: UpdateSettings
  /** The version that runs. */
  current: string
  /** Where verified packages are kept. */
  directory: string
  maxBytes?: number
  timeoutMs?: number
}

export type UpdateCheck =
  | { state: 'unconfigured'; current: string; message: string }
  /** The newest there is, or newer than that. */
  | { state: 'current'; current: string; latest: string }
  | { state: 'available'; current: string; latest: string; notes: string }
  | { state: 'failed'; current: string; message: string }

/** A package that is what its signed description says. */
export interface StagedUpdate {
  version: string
  path: string
  notes: string
  /** What installs it: Corral does not replace files that a package manager looks after. */
  command: string
}

export interface Updates {
  check(): Promise<UpdateCheck>
  /** Fetches and verifies the newest package; throws when there is none, or it is not what was signed. */
  stage(): Promise<StagedUpdate>
  /** The package that waits, verified again just now; null when there is none, or none that is newer. */
  staged(): Promise<StagedUpdate | null>
  /** The version that this process has fetched and that waits to be installed. */
  readonly pending: string | null
}

const FEED_BYTES = 64 * 1024
const FEED_MS = 15_000
const PACKAGE_BYTES = 64 * 1024 ** 2
const PACKAGE_MS = 10 * 60 * 1000

export function createUpdates(options: UpdateOptions): Updates {
  const { settings, current, directory, maxBytes = PACKAGE_BYTES, timeoutMs = PACKAGE_MS } = options
  const description = join(directory, 'release.json')
  let pending: string | null = null

  async function newest(): Promise<{ release: Release; text: string; feed: URL }> {
    const { feed, key } = sourceOf(settings)
    const text = await downloadText(feed, { maxBytes: FEED_BYTES, timeoutMs: Math.min(FEED_MS, timeoutMs) })
    return { release: verifiedRelease(text, key), text, feed }
  }

  async function check(): Promise<UpdateCheck> {
    const message = missing(settings)
    if (message !== null) return { state: 'unconfigured', current, message }
    try {
      const { version: latest, notes } = (await newest()).release
      const newer = compareVersions(latest, current) > 0
      return newer ? { state: 'available', current, latest, notes } : { state: 'current', current, latest }
    } catch (error) {
      return { state: 'failed', current, message: (error as Error).message }
    }
  }

  async function fetchNewest(): Promise<StagedUpdate> {
    const { release, text, feed } = await newest()
    refuseOlder(release.version, current)
    const path = join(directory, fileName(release))
    await mkdir(directory, { recursive: true, mode: 0o700 })
    if ((await hashOf(path)) !== release.sha256) {
      const pieces = download(new URL(release.url, feed), { maxBytes, timeoutMs }, feed)
      await savePackage(pieces, path, release.sha256)
    }
    await writeFile(`${description}.part`, text, { mode: 0o600 })
    await rename(`${description}.part`, description)
    await removeOthers(directory, fileName(release))
    pending = release.version
    return stagedUpdate(release, path)
  }

  return {
    check: together(check),
    get pending() {
      return pending
    },
    stage: together(fetchNewest),
    async staged() {
      const text = await readFile(description, 'utf8').catch(() => null)
      if (text === null || missing(settings) !== null) return null
      const release = verifiedRelease(text, sourceOf(settings).key)
      if (compareVersions(release.version, current) <= 0) return null
      const path = join(directory, fileName(release))
      if ((await hashOf(path)) !== release.sha256) {
        throw new Error(`${path} is not the package that was signed; fetch it again`)
      }
      return stagedUpdate(release, path)
    },
  }
}

function missing({ feed, publicKey }: UpdateSettings): string | null {
  if (feed === null) return 'no release feed is configured (updates.feed): nobody is asked for updates'
  return publicKey === null
    ? 'updates.feed is set, but updates.publicKey, whose signature counts, is not'
    : null
}

/** Throws unless both are there: an update that nobody vouches for is none. */
function sourceOf(settings: UpdateSettings): { feed: URL; key: KeyObject } {
  const problem = missing(settings)
  if (problem !== null) throw new Error(problem)
  return { feed: new URL(settings.feed!), key: readPublicKey(settings.publicKey!) }
}

function refuseOlder(version: string, current: string): void {
  const order = compareVersions(version, current)
  if (order === 0) throw new Error(`${version} is what runs already`)
  if (order < 0) throw new Error(`${version} is older than ${current}, which runs: Corral does not go back`)
}

/** A version has nothing in it that could lead out of the directory. */
const fileName = ({ version }: Release): string => `corral-${version}.tgz`

/** One package waits at the most. */
async function removeOthers(directory: string, keep: string): Promise<void> {
  const old = (await readdir(directory)).filter((name) => name.startsWith('corral-') && name !== keep)
  await Promise.all(old.map((name) => rm(join(directory, name), { force: true })))
}

const stagedUpdate = ({ version, notes }: Release, path: string): StagedUpdate => ({
  version,
  notes,
  path,
  command: `npm install --global '${path.replaceAll("'", `'\\''`)}' && corral restart`,
})

/** The file is there only when it is the one that was signed. */
async function savePackage(pieces: AsyncIterable<Uint8Array>, path: string, sha256: string): Promise<void> {
  const draft = `${path}.part`
  try {
    const saved = await save(pieces, draft)
    if (saved !== sha256) throw new Error('the package is not the one that was signed')
    await rename(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
}

/** Writes the pieces down and returns their hash; what it returns is on the disk. */
async function save(pieces: AsyncIterable<Uint8Array>, path: string): Promise<string> {
  const hash = createHash('sha256')
  const file = await open(path, 'w', 0o600)
  try {
    for await (const piece of pieces) {
      hash.update(piece)
      await file.writeFile(piece)
    }
    await file.sync()
  } finally {
    await file.close()
  }
  return hash.digest('hex')
}

async function hashOf(path: string): Promise<string | null> {
  const hash = createHash('sha256')
  try {
    for await (const piece of createReadStream(path)) hash.update(piece as Buffer)
    return hash.digest('hex')
  } catch {
    return null
  }
}
