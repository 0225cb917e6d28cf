import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The icons are read, not imported: the bundler does not know of them. */
export const ICON_SOURCE = join(import.meta.dirname, '../../node_modules/lucide-static/icons')

/** One file with these icons of Lucide, each under its name. */
export function spriteOf(names: readonly string[]): string {
  const symbols = names.map((name) => {
    const drawing = /<svg[^>]*>([^]*)<\/svg>/.exec(
      readFileSync(join(ICON_SOURCE, `${name}.svg`), 'utf8'),
    )?.[1]
    if (drawing === undefined) throw new Error(`${name} is not an icon`)
    return `<symbol id="${name}" viewBox="0 0 24 24">${drawing.replace(/\s+/g, ' ').trim()}</symbol>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg">${symbols.join('')}</svg>`
}
