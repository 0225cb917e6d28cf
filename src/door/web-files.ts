import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getAsset, getRawAsset, isSea } from 'node:sea'
import { fileURLToPath } from 'node:url'
import { createCheckout } from './web-checkout.ts'

/** One file of the dashboard; beside it are its compressed ones. */
export interface WebFile {
  /** The one with this ending: '', '.br' or '.gz'. */
  read(ending: string): Promise<Buffer>
  type: string
  etag: string
  /** The name changes with the contents. */
  immutable: boolean
  encodings: readonly string[]
}

/** The dashboard as it was built. */
export interface WebFiles {
  page(): Promise<WebFile>
  /** By the path of a request; undefined: there is none. */
  find(path: string): Promise<WebFile | undefined>
}

type Known = ReadonlyMap<string, WebFile>

/** Where a build is kept. */
interface Shelf {
  manifest(): string
  read(name: string): Promise<Buffer>
}

const insideExecutable: Shelf = {
  manifest: () => getAsset('web/manifest.json', 'utf8'),
  read: async (name) => Buffer.from(getRawAsset(`web/${name}`)),
}

function inDirectory(directory: string): Shelf {
  return {
    manifest: () => readFileSync(join(directory, 'manifest.json'), 'utf8'),
    read: (name) => readFile(join(directory, name)),
  }
}

/** Beside a bundle, and inside of the single executable, it lies ready. From a checkout it is built when it is wanted, and again when its sources have changed. */
export function openWebFiles(): WebFiles {
  if (isSea()) return fromShelf(insideExecutable)
  const here = fileURLToPath(new URL('.', import.meta.url))
  return import.meta.url.endsWith('.ts')
    ? fromCheckout(join(here, '../..'))
    : fromShelf(inDirectory(join(here, 'web')))
}

function fromShelf(shelf: Shelf): WebFiles {
  let read: Known | null = null
  const known = (): Known => (read ??= filesOn(shelf))
  return {
    page: async () => known().get('/')!,
    find: async (path) => known().get(path),
  }
}

/** Files of earlier builds stay known: a page that is open may still want one. */
function fromCheckout(root: string): WebFiles {
  const checkout = createCheckout(root)
  const all = new Map<string, WebFile>()
  let current = ''

  async function refresh(): Promise<void> {
    const directory = await checkout.built()
    if (directory === current) return
    for (const [path, file] of filesOn(inDirectory(directory))) all.set(path, file)
    current = directory
  }

  return {
    async page() {
      await refresh()
      return all.get('/')!
    },
    async find(path) {
      if (!all.get(path)?.immutable) await refresh()
      return all.get(path)
    },
  }
}

function filesOn(shelf: Shelf): Known {
  const { files } = JSON.parse(shelf.manifest()) as { files: Record<string, Omit<WebFile, 'read'>> }
  return new Map(
    Object.entries(files).map(([path, about]) => {
      const name = path === '/' ? 'index.html' : path.slice(1)
      return [path, { ...about, read: (ending) => shelf.read(name + ending) }]
    }),
  )
}
