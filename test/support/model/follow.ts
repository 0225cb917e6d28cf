import type { ChildProcess } from 'node:child_process'
import { lineSplitter } from '../../../src/agents/demo/lines.ts'

export interface Followed<Line> {
  lines: Line[]
  /** The first line that fits, of all there are and will be. */
  wait(fits: (line: Line) => boolean, what: string): Promise<Line>
}

const WAIT_MS = 120_000
const MAX_LINE_BYTES = 64 * 1024 * 1024

/** Reads JSON lines from an agent's stdout; `label` is how a line is named when another was waited for in vain. */
export function follow<Line>(child: ChildProcess, label: (line: Line) => string): Followed<Line> {
  const lines: Line[] = []
  const waiters = new Set<(over: boolean) => void>()
  const split = lineSplitter(
    MAX_LINE_BYTES,
    (bytes) => {
      lines.push(JSON.parse(bytes.toString('utf8')) as Line)
      for (const look of waiters) look(false)
    },
    (size) => {
      throw new RangeError(`a line of ${size} bytes`)
    },
  )
  child.stdout!.on('data', split)
  let closed = false
  child.once('close', () => {
    closed = true
    for (const look of waiters) look(true)
  })

  const wait = (fits: (line: Line) => boolean, what: string) => {
    return new Promise<Line>((resolve, reject) => {
      let next = 0
      const look = (over: boolean) => {
        const found = lines.slice(next).find(fits)
        next = lines.length
        if (found === undefined && !over) return
        clearTimeout(timer)
        waiters.delete(look)
        if (found !== undefined) return resolve(found)
        reject(new Error(`no ${what}; the last lines: ${lines.slice(-20).map(label).join(' ')}`))
      }
      const timer = setTimeout(() => look(true), WAIT_MS)
      waiters.add(look)
      look(closed)
    })
  }
  return { lines, wait }
}
