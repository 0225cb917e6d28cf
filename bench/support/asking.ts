import { createConnection, type NetConnectOpts, type Socket } from 'node:net'

interface Connection {
  /** Resolves at the end of the answer. */
  ask(text: string): Promise<void>
  close(): void
}

/** An answer is over with the piece that ends with `last`. */
export function open(to: NetConnectOpts, last: string): Promise<Connection> {
  const end = last.charCodeAt(0)
  return new Promise((resolve, reject) => {
    const socket: Socket = createConnection(to)
    let answered: () => void = () => undefined
    socket.on('data', (bytes) => bytes.at(-1) === end && answered())
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.setNoDelay(true)
      resolve({
        ask: (text) =>
          new Promise((done) => {
            answered = done
            socket.write(text)
          }),
        close: () => socket.destroy(),
      })
    })
  })
}
