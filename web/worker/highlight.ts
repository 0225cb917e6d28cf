import { segmentsOf } from '../../src/core/markdown/highlight.ts'
import type { HighlightAnswer, HighlightRequest } from '../parts/markdown/request.ts'

/* Finds out what is what in a piece of code, away from the page: a long one takes longer than a frame. */

const waiting = new Map<number, { lang: string; text: string }>()
let isBusy = false

addEventListener('message', ({ data }: MessageEvent<HighlightRequest>) => {
  const { id, lang, text } = data
  if (text === null) waiting.delete(id)
  else waiting.set(id, { lang, text })
  if (!isBusy) next()
})

/** One at a time, so that what is not wanted any more is heard of in between. */
function next(): void {
  const first = waiting.entries().next().value
  isBusy = first !== undefined
  if (!first) return
  const [id, { lang, text }] = first
  waiting.delete(id)
  postMessage({ id, segments: segmentsOf(lang, text) } satisfies HighlightAnswer)
  setTimeout(next)
}
