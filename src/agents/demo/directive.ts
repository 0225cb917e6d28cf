/** One `[[name argument]]` of a text. */
export interface Directive {
  name: string
  argument: string
}

/**
 * Every `[[...]]` of a text, outermost only, in order. Brackets nest, so an argument may hold a directive of its own;
 * of a run of closing brackets the last ones close (`[[say [a]]]` says `[a]`).
 */
export function directivesIn(text: string): Directive[] {
  const found: Directive[] = []
  let covered = 0
  for (const [start, end] of spansIn(text)) {
    if (start < covered) continue
    const match = /^([a-z][a-z0-9]*)(?:\s([^]*))?$/.exec(text.slice(start + 2, end))
    if (!match) continue
    found.push({ name: match[1]!, argument: match[2] ?? '' })
    covered = end
  }
  return found
}

/** The arguments of all markers of this name, also of those inside other directives. */
export function markersIn(text: string, name: string): string[] {
  const pattern = new RegExp(String.raw`\[\[${name}\s+([^\[\]]+?)\s*\]\]`, 'g')
  return Array.from(text.matchAll(pattern), (match) => match[1]!)
}

/** Where `[[` and its `]]` begin, for all that are closed, by their start. */
function spansIn(text: string): [number, number][] {
  const spans: [number, number][] = []
  const open: number[] = []
  for (const run of text.matchAll(/\[{2,}|\]{2,}/g)) {
    const end = run.index + run[0].length
    const pairs = Math.floor(run[0].length / 2)
    if (run[0][0] === '[') {
      for (let i = pairs; i > 0; i--) open.push(end - 2 * i)
    } else {
      for (let i = Math.min(open.length, pairs); i > 0; i--) spans.push([open.pop()!, end - 2 * i])
    }
  }
  return spans.sort((a, b) => a[0] - b[0])
}
