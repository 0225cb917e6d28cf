export interface Match {
  readonly path: string
  /** Above 0; the higher the better. */
  readonly score: number
}

/** Longer queries are cut: nobody types that. */
const MAX_QUERY = 200

/**
 * The paths that have all letters of the query in their order, the best first: letters that follow each other, that begin a
 * word and that are in the name of the file count more, and of two alike the shorter path is better.
 */
export function bestMatches(
  paths: readonly string[],
  query: string,
  limit: number,
): { files: Match[]; truncated: boolean } {
  const wanted = query.trim().toLowerCase().slice(0, MAX_QUERY)
  const found: Match[] = []
  for (const path of paths) {
    const score = scoreOf(path, wanted)
    if (score > 0) found.push({ path, score })
  }
  found.sort((a, b) => b.score - a.score || a.path.length - b.path.length || (a.path < b.path ? -1 : 1))
  return { files: found.slice(0, limit), truncated: found.length > limit }
}

/** 0: it does not fit. */
export function scoreOf(path: string, wanted: string): number {
  if (wanted === '') return 1
  const text = path.toLowerCase()
  const nameAt = text.lastIndexOf('/') + 1
  const name = text.slice(nameAt)
  const whole = name === wanted ? 1000 : name.startsWith(wanted) ? 500 : text.includes(wanted) ? 250 : 0
  // The name of the file first: a letter may be in a folder's name as well.
  const letters = Math.max(lettersFrom(path, text, wanted, nameAt) * 1.5, lettersFrom(path, text, wanted, 0))
  return letters === 0 ? 0 : Math.round(whole + letters)
}

function lettersFrom(path: string, text: string, wanted: string, from: number): number {
  let score = 0
  let last = -2
  for (const letter of wanted) {
    const at = text.indexOf(letter, Math.max(last + 1, from))
    if (at < 0) return 0
    score += at === last + 1 ? 8 : beginsWord(path, at) ? 6 : 1
    last = at
  }
  return score
}

function beginsWord(path: string, at: number): boolean {
  if (at === 0 || /[/_.\-\s]/.test(path[at - 1]!)) return true
  return /[a-z]/.test(path[at - 1]!) && /[A-Z]/.test(path[at]!)
}
