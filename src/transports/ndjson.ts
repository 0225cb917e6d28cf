/** The longest line that is kept unless told otherwise. */
export const DEFAULT_MAX_LINE = 64 * 1024 * 1024
/** Of a WebSocket's message: strangers may send one, too. */
export const DEFAULT_MAX_MESSAGE = 16 * 1024 * 1024

const LF = 0x0a

export interface LineSplitterOptions {
  /** One complete line, without its LF. The buffer may share memory with the chunk it came in. */
  onLine(line: Buffer): void
  /** A line grew past the limit: what came of it is dropped and the rest is skipped up to its LF. Once per such line. */
  onOverflow?(limit: number): void
  maxLineBytes?: number
}

export interface LineSplitter {
  push(chunk: Buffer): void
  /** The stream is over: a last line without LF counts as one. */
  end(): void
  /** Bytes of the unfinished line that are held. */
  readonly held: number
}

/**
 * Splits bytes into lines at LF only. (Node's readline also splits at U+2028 and U+2029, which JSON allows inside
 * strings.) Parts of a line that spans chunks are kept in a list and joined once.
 */
export function createLineSplitter(options: LineSplitterOptions): LineSplitter {
  const limit = options.maxLineBytes ?? DEFAULT_MAX_LINE
  let parts: Buffer[] = []
  let held = 0
  let skipping = false

  function overflow(): void {
    parts = []
    held = 0
    skipping = true
    options.onOverflow?.(limit)
  }

  function finish(tail: Buffer): void {
    if (skipping) {
      skipping = false
      return
    }
    if (held + tail.length > limit) {
      overflow()
      skipping = false
      return
    }
    let line = tail
    if (held > 0) {
      parts.push(tail)
      line = Buffer.concat(parts, held + tail.length)
    }
    parts = []
    held = 0
    options.onLine(line)
  }

  function keep(rest: Buffer): void {
    if (skipping || rest.length === 0) return
    if (held + rest.length > limit) return overflow()
    parts.push(rest)
    held += rest.length
  }

  return {
    get held() {
      return held
    },
    push(chunk) {
      let start = 0
      for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
        finish(chunk.subarray(start, end))
        start = end + 1
      }
      keep(start === 0 ? chunk : chunk.subarray(start))
    },
    end() {
      if (held > 0) finish(Buffer.alloc(0))
      skipping = false
    },
  }
}

/** One value as one line. */
export function encodeLine(value: unknown): string {
  return JSON.stringify(value) + '\n'
}
