import { constants, openSync } from 'node:fs'
import { Socket } from 'node:net'

/** The writing end of an agent's stdin. Lines go out whole and in order; a stopped agent blocks nobody but its own queue. */
export interface FifoWriter {
  /** Resolves when every byte is in the FIFO (which outlives this process), rejects when it cannot be. */
  write(lines: string[]): Promise<void>
  close(): void
}

export function openFifo(path: string): FifoWriter {
  // Opened for reading too: that never blocks and never fails for want of a reader.
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  const socket = new Socket({ fd, readable: false, writable: true })
  let broken: Error | null = null
  socket.on('error', (error) => {
    broken = error
  })
  socket.unref()
  return {
    write(lines) {
      if (lines.length === 0) return Promise.resolve()
      if (broken || socket.destroyed) return Promise.reject(broken ?? new Error('the agent is gone'))
      return new Promise((resolve, reject) => {
        socket.write(lines.map((line) => `${line}\n`).join(''), (error) =>
          error ? reject(error) : resolve(),
        )
      })
    },
    close: () => void socket.destroy(),
  }
}
