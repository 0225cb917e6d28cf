import { CorralError } from '../../core/error.ts'
import type { Share } from '../../transports/connection.ts'
import { notification } from '../../transports/jsonrpc.ts'
import { forMany } from '../../transports/line-writer.ts'
import type { ListChange, ListSnapshot, SessionList, Watcher } from './session-list.ts'

const MAX_WATCHES = 8
const LINE_CHARS = 1024 ** 2
/** Rows that are read at once for somebody who was behind. */
const PAGE = 250

type Send = (line: string | Buffer) => boolean

/** The lists that one connection watches. */
export interface Watches {
  /** `start` begins to tell what changes. */
  open(wanted: {
    archived: boolean
    limit: number
  }): Promise<{ id: string; snapshot: ListSnapshot; start(): void }>
  close(id: string): boolean
  /** The connection has room again. */
  drained(): void
  closeAll(): void
}

export function createWatches(list: SessionList, send: Send, share: Share = forMany): Watches {
  const watches = new Map<string, Watch>()
  let last = 0

  function end(watch: Watch): void {
    watches.delete(watch.id)
    watch.close()
    list.leave(watch)
  }

  return {
    async open({ archived, limit }) {
      if (watches.size >= MAX_WATCHES) {
        const message = `a connection watches at most ${MAX_WATCHES} lists; end one with session.unwatch`
        throw new CorralError('invalid', message, { field: 'watches' })
      }
      const id = `w${++last}`
      const watch = new Watch({ id, archived, list, send, share, broke: () => watches.delete(id) })
      watches.set(id, watch)
      try {
        const snapshot = await list.enter(watch, limit)
        return { id, snapshot, start: () => watch.start() }
      } catch (error) {
        end(watch)
        throw error
      }
    },
    close(id) {
      const watch = watches.get(id)
      if (watch) end(watch)
      return watch !== undefined
    },
    drained() {
      for (const watch of watches.values()) watch.catchUp()
    },
    closeAll() {
      for (const watch of watches.values()) end(watch)
    },
  }
}

interface WatchParts {
  id: string
  archived: boolean
  list: SessionList
  send: Send
  share: Share
  broke(): void
}

/**
 * One `session.watch`. It is up to date, or behind and knows only which sessions have changed meanwhile: their rows are read when
 * there is room for them.
 */
class Watch implements Watcher {
  readonly id: string
  readonly archived: boolean
  readonly #parts: WatchParts
  #behind: Set<string> | null = new Set()
  #state: 'opening' | 'open' | 'closed' = 'opening'

  constructor(parts: WatchParts) {
    this.#parts = parts
    this.id = parts.id
    this.archived = parts.archived
  }

  tell(change: ListChange): void {
    if (!this.#behind) {
      if (!this.#send(change)) this.#behind = new Set()
      return
    }
    for (const { id } of change.changed) this.#behind.add(id)
    for (const id of change.removed) this.#behind.add(id)
  }

  /** Its answer has been sent. */
  start(): void {
    if (this.#state === 'opening') this.#state = 'open'
    this.catchUp()
  }

  catchUp(): void {
    const behind = this.#behind
    if (!behind || this.#state !== 'open') return
    const ids = [...behind].slice(0, PAGE)
    for (const id of ids) behind.delete(id)
    // Full again: there will be another time.
    if (ids.length > 0 && !this.#send(this.#parts.list.lookUp(this, ids))) return
    if (behind.size === 0) this.#behind = null
    else setImmediate(() => this.catchUp())
  }

  broken(): void {
    const { id, send, broke } = this.#parts
    const isTold = this.#state === 'open'
    this.#state = 'closed'
    broke()
    if (isTold)
      send(notification('sessions.closed', `{"watchId":"${id}","reason":"the log could not be read"}`))
  }

  close(): void {
    this.#state = 'closed'
  }

  /** False: the connection is full. */
  #send(change: ListChange): boolean {
    const { send, share } = this.#parts
    let hasRoom = true
    for (const line of linesOf(share, this.id, change)) hasRoom = send(line) && hasRoom
    return hasRoom
  }
}

/** A change goes to many, and nearly all of them have the same id: each its connection's first. */
type Lines = WeakMap<ListChange, Map<string, (string | Buffer)[]>>
const caches = new Map<Share, Lines>()

function linesOf(share: Share, id: string, change: ListChange): (string | Buffer)[] {
  const cache: Lines = caches.get(share) ?? new WeakMap()
  caches.set(share, cache)
  const byId = cache.get(change) ?? new Map<string, (string | Buffer)[]>()
  cache.set(change, byId)
  let lines = byId.get(id)
  if (!lines) {
    lines = paramsOf(id, change).map((params) => share(notification('sessions', params)))
    byId.set(id, lines)
  }
  return lines
}

/** In parts that fit a line; the last one has what is gone. */
function paramsOf(watchId: string, { seq, changed, removed, counts }: ListChange): string[] {
  const parts: string[] = []
  let part = ''
  for (const { json } of changed) {
    if (part !== '' && part.length + json.length > LINE_CHARS) {
      parts.push(part)
      part = ''
    }
    part += part === '' ? json : `,${json}`
  }
  parts.push(part)
  const tail = `"counts":${JSON.stringify(counts)}}`
  return parts.map((rows, index) => {
    const gone = index === parts.length - 1 ? removed : []
    return `{"watchId":"${watchId}","seq":${seq},"changed":[${rows}],"removed":${JSON.stringify(gone)},${tail}`
  })
}
