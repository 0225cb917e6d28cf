import { type FSWatcher, watch } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'

const PIECE = 64 * 1024
/** Watching may miss something; looking does not. */
const LOOK_MS = 500
/** No logger keeps more files than this. */
const MAX_FILES = 100

export interface ReadOptions {
  /** How many of the lines that are there already. */
  last: number
  /** Until when to wait for more; null: not at all. */
  until: AbortSignal | null
}

/**
 * The newest lines of a log, oldest first, then every line as it is written. When the file is put aside it is read to its end, then
 * whatever was put aside after it, then the new one: nothing is missed, and nothing comes twice.
 */
export async function* readLog(path: string, { last, until }: ReadOptions): AsyncGenerator<string> {
  const file = await openOrNull(path)
  const newest = file ? await endOf(file, last) : { lines: [], end: 0 }
  const older = await olderLines(path, file, last - newest.lines.length)
  yield* [...older, ...newest.lines]
  if (until) yield* follow(path, { file, at: newest.end }, until)
  else await file?.close()
}

/** Where the file has too few lines, those of the files before it. */
async function olderLines(path: string, newest: FileHandle | null, count: number): Promise<string[]> {
  const own = (await newest?.stat())?.ino
  let lines: string[] = []
  for (let number = 1; number <= MAX_FILES && lines.length < count; number++) {
    const file = await openOrNull(nameOf(path, number))
    if (!file) break
    try {
      // The newest one may just have been put aside.
      if ((await file.stat()).ino === own) continue
      lines = [...(await endOf(file, count - lines.length)).lines, ...lines]
    } finally {
      await file.close()
    }
  }
  return lines
}

/** Whole lines only, and where the last of them ends. Read from the end: it does not matter how long the file is. */
async function endOf(file: FileHandle, count: number): Promise<{ lines: string[]; end: number }> {
  const { size } = await file.stat()
  let from = size
  let bytes = Buffer.alloc(0)
  while (from > 0 && breaksIn(bytes) <= count) {
    const length = Math.min(PIECE, from)
    from -= length
    bytes = Buffer.concat([await readAt(file, from, length), bytes])
  }
  const whole = bytes.subarray(0, bytes.lastIndexOf(10) + 1)
  const lines = whole
    .toString('utf8')
    .split('\n')
    .slice(from > 0 ? 1 : 0, -1)
  return { lines: count > 0 ? lines.slice(-count) : [], end: size - (bytes.length - whole.length) }
}

function breaksIn(bytes: Buffer): number {
  let found = 0
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) found++
  return found
}

interface Position {
  file: FileHandle | null
  at: number
}

async function* follow(path: string, from: Position, signal: AbortSignal): AsyncGenerator<string> {
  const changes = changesOf(path, signal)
  let { file, at } = from
  let half = Buffer.alloc(0)

  async function* rest(): AsyncGenerator<string> {
    for (let read = await readAt(file!, at, PIECE); read.length > 0; read = await readAt(file!, at, PIECE)) {
      at += read.length
      const bytes = Buffer.concat([half, read])
      const end = bytes.lastIndexOf(10) + 1
      half = bytes.subarray(end)
      if (end > 0)
        yield* bytes
          .subarray(0, end - 1)
          .toString('utf8')
          .split('\n')
    }
  }

  try {
    for (;;) {
      if (file) yield* rest()
      const next = await newerThan(path, file)
      if (next) {
        // What was written between the last look and the move.
        if (file) yield* rest()
        await file?.close()
        ;[file, at, half] = [next, 0, Buffer.alloc(0)]
      } else if (signal.aborted) return
      else await changes.next()
    }
  } finally {
    changes.close()
    await file?.close()
  }
}

/** The file that was begun after this one; null: this one is the newest, or there is none. */
async function newerThan(path: string, file: FileHandle | null): Promise<FileHandle | null> {
  const own = file ? (await file.stat()).ino : null
  for (let number = 0; number <= MAX_FILES; number++) {
    const found = await stat(nameOf(path, number)).catch(() => null)
    if (found && found.ino === own) return number === 0 ? null : openOrNull(nameOf(path, number - 1))
    if (!found && number > 0) break
  }
  // It was removed, or is not known yet.
  return openOrNull(path)
}

function changesOf(path: string, signal: AbortSignal): { next(): Promise<void>; close(): void } {
  let wake = (): void => {}
  let watcher: FSWatcher | null = null
  const hear = (): void => wake()
  try {
    watcher = watch(dirname(path), (_, name) => (name === null || name.startsWith(basename(path))) && hear())
    watcher.on('error', () => {})
  } catch {
    // Where nothing can be watched, looking is enough.
  }
  signal.addEventListener('abort', hear)
  return {
    next: () =>
      new Promise((resolve) => {
        const timer = setTimeout(() => wake(), LOOK_MS)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
        if (signal.aborted) wake()
      }),
    close: () => watcher?.close(),
  }
}

function nameOf(path: string, number: number): string {
  return number === 0 ? path : `${path}.${number}`
}

async function openOrNull(path: string): Promise<FileHandle | null> {
  return open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
}

async function readAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at)
  return buffer.subarray(0, bytesRead)
}
