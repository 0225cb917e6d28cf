import { KINDS } from './segments.ts'

/** How highlight.js calls what has a colour here. */
const NAMES: Readonly<Record<string, (typeof KINDS)[number]>> = {
  keyword: 'keyword',
  built_in: 'type',
  type: 'type',
  literal: 'literal',
  number: 'number',
  operator: 'keyword',
  regexp: 'string',
  string: 'string',
  char: 'string',
  symbol: 'literal',
  variable: 'attr',
  'template-variable': 'attr',
  link: 'string',
  title: 'title',
  comment: 'comment',
  doctag: 'keyword',
  meta: 'meta',
  section: 'section',
  tag: 'tag',
  name: 'tag',
  attr: 'attr',
  attribute: 'attr',
  property: 'attr',
  bullet: 'keyword',
  'selector-tag': 'tag',
  'selector-id': 'title',
  'selector-class': 'title',
  'selector-attr': 'attr',
  'selector-pseudo': 'keyword',
  addition: 'addition',
  deletion: 'deletion',
}

const CHARACTERS: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" }

/** Of what highlight.js writes: spans with classes, and text with five characters escaped. */
export function segmentsIn(markup: string): number[] {
  const segments: number[] = []
  const kinds = [0]
  for (const [part, names, name] of markup.matchAll(/<span class="([^"]*)">|<\/span>|&(#?\w+);|[^<&]+|./gs)) {
    if (names !== undefined) kinds.push(kindOf(names) ?? kinds.at(-1)!)
    else if (part === '</span>') kinds.pop()
    else
      add(segments, name === undefined ? part.length : (CHARACTERS[name] ?? part).length, kinds.at(-1) ?? 0)
  }
  return segments
}

function add(segments: number[], length: number, kind: number): void {
  const last = segments.length - 1
  if (last > 0 && segments[last] === kind) segments[last - 1]! += length
  else segments.push(length, kind)
}

/** Null: what is around it says what it is. */
function kindOf(names: string): number | null {
  const [, name] = /^hljs-([\w-]+)/.exec(names) ?? []
  const kind = name === undefined ? undefined : NAMES[name]
  return kind === undefined ? null : KINDS.indexOf(kind)
}
