import { draftOf, type Draft } from './editor.ts'

/** What was sent before, the newest last, and where somebody is who looks through it. */
export interface Recall {
  readonly entries: readonly string[]
  /** Null: in the text that is being written. */
  readonly at: number | null
  /** That text, while another one is looked at. */
  readonly held: string
}

export const MAX_ENTRIES = 500

export function recallOf(entries: readonly string[]): Recall {
  return { entries: entries.slice(-MAX_ENTRIES), at: null, held: '' }
}

/** With one more; the same one twice is one. */
export function remembered({ entries }: Recall, text: string): Recall {
  return recallOf(text.trim() === '' || entries.at(-1) === text ? entries : [...entries, text])
}

/** One further back, or forward again; null: there is none. */
export function recalled(
  recall: Recall,
  draft: Draft,
  step: -1 | 1,
): { recall: Recall; draft: Draft } | null {
  const { entries, at } = recall
  const next = (at ?? entries.length) + step
  if (next < 0 || next > entries.length || (at === null && step === 1)) return null
  const held = at === null ? draft.text : recall.held
  const text = next === entries.length ? held : entries[next]!
  return {
    recall: { entries, at: next === entries.length ? null : next, held },
    draft: draftOf(text, draft.killed),
  }
}
