const LF = 0x0a

/**
 * Cuts bytes into lines at LF and nothing else. A line past `maxBytes` is dropped whole, and `tooLong` is told, once
 * its end is there.
 */
export function lineSplitter(
  maxBytes: number,
  line: (bytes: Buffer) => void,
  tooLong: (size: number) => void,
): (chunk: Buffer) => void {
  let parts: Buffer[] = []
  let size = 0

  const keep = (part: Buffer) => {
    size += part.length
    if (size > maxBytes) parts = []
    else if (part.length > 0) parts.push(part)
  }
  return (chunk) => {
    let from = 0
    for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, from)) {
      keep(chunk.subarray(from, at))
      const [whole, length] = [parts, size]
      parts = []
      size = 0
      from = at + 1
      if (length > maxBytes) tooLong(length)
      else line(whole.length === 1 ? whole[0]! : Buffer.concat(whole, length))
    }
    keep(chunk.subarray(from))
  }
}
