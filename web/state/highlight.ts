import { WORKERS } from 'corral:assets'
import type { Segments } from '../../src/core/markdown/segments.ts'
import type { HighlightAnswer, HighlightRequest } from '../parts/markdown/request.ts'
import { scriptUrl } from '../trusted.ts'

/** Longer code is shown without colours. */
const MAX_TEXT = 60_000
const MAX_KEPT = 300

let worker: Worker | null = null
let last = 0
const wanted = new Map<number, (segments: Segments) => void>()
/** What was found out before, the least lately used first: rows come and go as somebody scrolls. */
const kept = new Map<string, Segments>()

/** What was found out before about this text, at once. */
export function knownSegments(lang: string, text: string): Segments | null {
  const key = `${lang}\n${text}`
  const segments = kept.get(key)
  if (!segments) return null
  kept.delete(key)
  kept.set(key, segments)
  return segments
}

/** Finds out what is what in a piece of code. Returns how to say that nobody wants to know any more. */
export function highlight(lang: string, text: string, done: (segments: Segments) => void): () => void {
  if (lang === '' || text.length > MAX_TEXT) return () => {}
  const id = ++last
  wanted.set(id, (segments) => {
    keep(`${lang}\n${text}`, segments)
    done(segments)
  })
  post({ id, lang, text })
  return () => {
    if (wanted.delete(id)) post({ id, lang, text: null })
  }
}

function post(request: HighlightRequest): void {
  worker ??= begin()
  worker?.postMessage(request)
}

function begin(): Worker | null {
  const url = WORKERS['highlight']
  if (url === undefined) return null
  const made = new Worker(scriptUrl(url), { type: 'module' })
  made.addEventListener('message', ({ data }: MessageEvent<HighlightAnswer>) => {
    const done = wanted.get(data.id)
    wanted.delete(data.id)
    done?.(data.segments)
  })
  return made
}

function keep(key: string, segments: Segments): void {
  kept.set(key, segments)
  if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value!)
}
