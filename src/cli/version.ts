import { readFileSync } from 'node:fs'

/** The manifest is one folder up from a bundle, two from the sources. */
function read(): string {
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
