import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createCheckout } from './web-checkout.ts'

/** One file of the dashboard; beside it are its compressed ones. */
export interface WebFile {
  file: string
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

/** Beside a bundle it lies ready. From a checkout it is built when it is wanted, and again when its sources have changed. */
export function openWebFiles(): WebFiles {
  const here = fileURLToPath(new URL('.', import.meta.url))
  return import.meta.url.endsWith('.ts') ? fromCheckout(join(here, '../..')) : fromBundle(join(here, 'web'))
}

function fromBundle(directory: string): WebFiles {
  let read: Known | null = null
  const known = (): Known => (read ??= readManifest(directory))
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
    for (const [path, file] of readManifest(directory)) all.set(path, file)
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

function readManifest(directory: string): Known {
  const text = readFileSync(join(directory, 'manifest.json'), 'utf8')
  const { files } = JSON.parse(text) as { files: Record<string, Omit<WebFile, 'file'>> }
  return new Map(
    Object.entries(files).map(([path, about]) => [
      path,
      { ...about, file: join(directory, path === '/' ? 'index.html' : path) },
    ]),
  )
}
