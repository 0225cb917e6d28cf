import type { Segments } from '../../../src/core/markdown/segments.ts'

/** What the worker is asked. */
export interface HighlightRequest {
  id: number
  lang: string
  /** Null: nobody wants it any more. */
  text: string | null
}

export interface HighlightAnswer {
  id: number
  segments: Segments
}
