const IMAGE = /\.(?:png|jpe?g|gif|webp)$/i
const MAX_PATHS = 10

/** A path, and how it was written. */
export interface Written {
  readonly path: string
  readonly text: string
}

/**
 * The paths of pictures, where a text is nothing else: terminals write what is dropped on them in this way, in quotes, with
 * backslashes before spaces, or as an address.
 */
export function imagePaths(text: string): Written[] {
  if (text.length > 10_000) return []
  const found = text.trim().match(/'[^'\n]+'|"[^"\n]+"|(?:\\.|[^\s\\])+/g) ?? []
  const paths = found.map((written) => ({ path: pathOf(written), text: written }))
  if (paths.length > MAX_PATHS || !paths.every(({ path }) => isPath(path))) {
    // A path with bare spaces in it.
    const whole = text.trim()
    return !whole.includes('\n') && isPath(whole) && /^[/~]/.test(whole) ? [{ path: whole, text: whole }] : []
  }
  return paths
}

function isPath(path: string): boolean {
  return IMAGE.test(path) && /^(?:[/~.]|[\w-])/.test(path) && !/^[a-z]+:\/\//i.test(path)
}

function pathOf(written: string): string {
  const [, quoted] = /^(?:'([^']+)'|"([^"]+)")$/.exec(written)?.filter((part) => part !== undefined) ?? []
  if (quoted !== undefined) return quoted
  const plain = written.replace(/\\(.)/g, '$1')
  if (!plain.startsWith('file://')) return plain
  try {
    return decodeURIComponent(new URL(plain).pathname)
  } catch {
    return plain
  }
}
