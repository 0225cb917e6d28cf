/** What a backup has of the data directory. Everything else is either made anew (cache, sockets) or is of a running process. */

export type Kind = 'data' | 'secret'

const PARTS: readonly (readonly [RegExp, Kind])[] = [
  [/^corral\.db$/, 'data'],
  [/^config\.yaml$/, 'data'],
  [/^signed-out\.json$/, 'data'],
  [/^demo\/[\w-]+\.jsonl$/, 'data'],
  [/^relay\/(?!settings|license)[\w-]+\.jsonl?$/, 'data'],
  [/^relay\/sessions\/[\w-]+\.jsonl?$/, 'data'],
  [/^token$/, 'secret'],
  [/^signin\.json$/, 'secret'],
  [/^tls-(cert|key)\.pem$/, 'secret'],
  [/^relay\/(settings|license)[\w-]*\.json$/, 'secret'],
]

/** Null: it is in no backup. A path is relative to the data directory, with slashes. */
export function kindOf(path: string): Kind | null {
  return PARTS.find(([pattern]) => pattern.test(path))?.[1] ?? null
}

/** The folders in which files of a backup may be. */
export const FOLDERS = ['', 'demo', 'relay', 'relay/sessions'] as const

export const FORMAT = 'corral backup 1'

/** `manifest.json`, the first file of a backup. */
export interface Manifest {
  format: typeof FORMAT
  /** Of the Corral that made it. */
  version: string
  createdAt: string
  /** Of the log. */
  schema: number
  logId: string | null
  head: number
  sessions: number
  /** Whether tokens, keys and accounts are in it. */
  secrets: boolean
  files: ManifestFile[]
}

export interface ManifestFile {
  path: string
  size: number
  sha256: string
}

const FIELDS = ['version', 'createdAt', 'schema', 'head', 'sessions', 'secrets', 'files'] as const

/** Throws for what is no manifest that this Corral understands. */
export function readManifest(text: string): Manifest {
  let value: Partial<Manifest>
  try {
    value = JSON.parse(text) as Partial<Manifest>
  } catch {
    throw new Error('this is no backup of Corral: its manifest cannot be read')
  }
  if (value.format !== FORMAT)
    throw new Error(`this is no backup that this Corral understands (${value.format})`)
  for (const field of FIELDS) if (value[field] === undefined) throw new Error(`the manifest has no ${field}`)
  const manifest = value as Manifest
  for (const { path, size, sha256 } of manifest.files) {
    if (kindOf(path) === null) throw new Error(`a backup has no file ${path}`)
    if (!Number.isSafeInteger(size) || !/^[0-9a-f]{64}$/.test(sha256))
      throw new Error(`the manifest is wrong about ${path}`)
  }
  if (!manifest.files.some(({ path }) => path === 'corral.db')) throw new Error('the backup has no log')
  return manifest
}
