const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
const ASCII = /^[ -~]*$/

/** What a person sees as one character, as many times as there are. */
export function graphemes(text: string): string[] {
  return ASCII.test(text) ? text.split('') : Array.from(segmenter.segment(text), ({ segment }) => segment)
}

/** How many columns of a terminal a text takes. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length
  let width = 0
  for (const { segment } of segmenter.segment(text)) width += graphemeWidth(segment)
  return width
}

const EMOJI = /\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|[#*0-9]\ufe0f\u20e3/u
const NOTHING = /^[\p{M}\p{Cf}\u200b-\u200d\ufeff]+$/u

export function graphemeWidth(grapheme: string): number {
  const code = grapheme.codePointAt(0) ?? 0
  if (code >= 0x20 && code < 0x7f && grapheme.length === 1) return 1
  if (code > 0x2e7f && isWide(code)) return 2
  if (EMOJI.test(grapheme)) return 2
  if (code >= 0x1100 && code <= 0x115f) return 2
  return NOTHING.test(grapheme) ? 0 : 1
}

/** East Asian characters that take two columns (UAX 11), from the first such block on. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x2e80, 0x303e],
  [0x3041, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18cff],
  [0x1aff0, 0x1b2ff],
  [0x1f200, 0x1f251],
  [0x20000, 0x3fffd],
]

function isWide(code: number): boolean {
  return WIDE.some(([from, to]) => code >= from && code <= to)
}
