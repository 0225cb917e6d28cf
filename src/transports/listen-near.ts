import type { HttpApp, HttpListener, ListenOptions } from './http.ts'

const PORTS_TRIED = 100

/** Listens on a port, or, when somebody else has it, on the next free one after it. */
export async function listenNear(app: HttpApp, options: ListenOptions): Promise<HttpListener> {
  const { port } = options
  for (let tried = port; ; tried++) {
    try {
      return await app.listen({ ...options, port: tried })
    } catch (error) {
      const busy = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
      if (!busy || port === 0 || tried >= Math.min(port + PORTS_TRIED, 65_535)) throw error
    }
  }
}

/** What to say about it to a person; empty when it has the port that was asked for. */
export function movedFrom(port: number, listener: HttpListener): { trouble?: string } {
  if (port === 0 || port === listener.port) return {}
  return { trouble: `port ${port} is taken, using ${listener.port}` }
}
