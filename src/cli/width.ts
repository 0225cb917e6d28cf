/** Characters that take two cells of a terminal, and those that take none. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u
const NONE = /\p{Mn}|\p{Me}|[\u200b-\u200d]/u

function cellsOf(character: string): number {
  if (character < '\u0300') return 1
  if (NONE.test(character)) return 0
  return WIDE.test(character) ? 2 : 1
}

/** How many cells of a terminal it takes: one line, without codes. */
export function cells(text: string): number {
  let sum = 0
  for (const character of text) sum += cellsOf(character)
  return sum
}

/** No wider than this; what is cut off ends with a dot dot dot. */
export function fit(text: string, columns: number): string {
  if (cells(text) <= columns) return text
  return `${wrapLine(text, Math.max(1, columns - 1))[0]!.trimEnd()}…`
}

/** The lines of a text, none wider than this. Nothing is left out: a person may have to decide about it. */
export function wrap(text: string, columns: number): string[] {
  return text.split('\n').flatMap((line) => wrapLine(line.replaceAll('\t', '    '), columns))
}

function wrapLine(line: string, columns: number): string[] {
  const lines: string[] = []
  let current = ''
  let used = 0
  for (const character of line) {
    const wanted = cellsOf(character)
    if (used + wanted > columns && current !== '') {
      lines.push(current)
      current = ''
      used = 0
    }
    current += character
    used += wanted
  }
  return [...lines, current]
}
