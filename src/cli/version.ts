import { readFileSync } from 'node:fs'
import { getAsset, isSea } from 'node:sea'

/** The manifest is one folder up from a bundle, two from the sources; the single executable has it inside. */
function read(): string {
  if (isSea()) return (JSON.parse(getAsset('package.json', 'utf8')) as { version: string }).version
  for (const place of ['../package.json', '../../package.json']) {
    try {
      const manifest = JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8')) as Record<
        string,
        unknown
      >
      if (manifest['name'] === 'corral') return String(manifest['version'])
    } catch {
      // not here
    }
  }
  return '0.0.0'
}

export const version = read()
