import type { LineConnection, LineHandler } from './connection.ts'

/** Serves one connection. */
export type Accept<C extends LineConnection, About extends unknown[] = []> = (
  connection: C,
  ...about: About
) => LineHandler

/**
 * Loads what serves connections when the first of them comes: what nobody speaks takes neither time at the start nor memory.
 * Whoever comes meanwhile is not read from until it is there.
 */
export function onDemand<C extends LineConnection, About extends unknown[]>(
  load: () => Promise<Accept<C, About>>,
  onFault: (error: unknown) => void,
): Accept<C, About> {
  let loaded: Accept<C, About> | null = null
  let loading: Promise<void> | null = null

  function loadOnce(): Promise<void> {
    loading ??= load()
      .then((accept) => void (loaded = accept))
      .finally(() => (loading = null))
    return loading
  }

  return (connection, ...about) => {
    if (loaded) return loaded(connection, ...about)
    let handler: LineHandler | null = null
    let isGone = false
    connection.pause()
    loadOnce()
      .then(() => {
        if (isGone) return
        handler = loaded!(connection, ...about)
        connection.resume()
      })
      .catch((error: unknown) => {
        onFault(error)
        connection.close()
      })
    return {
      line: (line) => handler?.line(line),
      drain: () => handler?.drain?.(),
      oversize: (limit) => handler?.oversize?.(limit),
      ended: () => (handler?.ended ? handler.ended() : connection.close()),
      closed() {
        isGone = true
        handler?.closed?.()
      },
    }
  }
}
