import { createLineSplitter } from '../../transports/ndjson.ts'

export interface SseEvent {
  /** Empty where the server gave it no name. */
  name: string
  data: string
}

export interface SseReader {
  /** The events that this chunk completes. Throws when one grows past the limit. */
  push(chunk: Buffer): SseEvent[]
}

const CR = 0x0d
const MAX_EVENT_BYTES = 8 * 1024 * 1024

/**
 * Reads server-sent events, however the bytes are cut. Lines end with LF or CRLF; a CR alone, which the standard allows too,
 * is sent by nobody. An event that is not complete at the end of the stream is none.
 */
export function createSseReader(maxEventBytes: number = MAX_EVENT_BYTES): SseReader {
  let complete: SseEvent[] = []
  let name = ''
  let data: string[] = []
  let size = 0

  function tooLarge(): never {
    throw new Error(`an event is larger than ${maxEventBytes} bytes`)
  }

  function dispatch(): void {
    if (data.length > 0) complete.push({ name, data: data.length === 1 ? data[0]! : data.join('\n') })
    name = ''
    data = []
    size = 0
  }

  function take(line: string): void {
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'data') data.push(value)
    else if (field === 'event') name = value
  }

  const lines = createLineSplitter({
    maxLineBytes: maxEventBytes,
    onOverflow: tooLarge,
    onLine(bytes) {
      const end = bytes.at(-1) === CR ? bytes.length - 1 : bytes.length
      if (end === 0) return dispatch()
      size += end
      if (size > maxEventBytes) tooLarge()
      take(bytes.toString('utf8', 0, end))
    },
  })

  return {
    push(chunk) {
      lines.push(chunk)
      const events = complete
      complete = []
      return events
    },
  }
}
