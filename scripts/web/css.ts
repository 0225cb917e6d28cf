import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A style sheet with all that it imports, without comments and needless space. */
export function bundledStyle(file: string): string {
  return squeezed(inlined(file))
}

function inlined(file: string): string {
  return readFileSync(file, 'utf8').replace(/^@import '(\.[^']+)';$/gm, (_, path: string) =>
    inlined(join(dirname(file), path)),
  )
}

/** Strings stay as they are; between rules nothing but what has a meaning is left. */
function squeezed(css: string): string {
  return css
    .split(/("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\/\*[^]*?\*\/)/)
    .map((part) => {
      if (part.startsWith('/*')) return ''
      if (/^["']/.test(part)) return part
      return part
        .replace(/\s+/g, ' ')
        .replace(/ ?([{};,]) ?/g, '$1')
        .replace(/: /g, ':')
        .replace(/;}/g, '}')
    })
    .join('')
    .trim()
}
