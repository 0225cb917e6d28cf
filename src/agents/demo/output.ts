import { writeSync } from 'node:fs'
import type { DemoOutput } from './protocol.ts'

export interface Output {
  emit(line: DemoOutput): void
  /** Bytes as they are; the caller sees to whole lines. */
  write(bytes: Buffer): void
}

/** Writes straight to a descriptor, so that nothing is lost when the process ends. */
export function createOutput(fd: number): Output {
  const write = (bytes: Buffer) => {
    let done = 0
    while (done < bytes.length) done += writeSome(fd, bytes, done)
  }
  return { write, emit: (line) => write(Buffer.from(`${JSON.stringify(line)}\n`)) }
}

function writeSome(fd: number, bytes: Buffer, from: number): number {
  try {
    return writeSync(fd, bytes, from)
  } catch (error) {
    // A pipe that somebody made non-blocking and nobody reads just now.
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2)
    return 0
  }
}
