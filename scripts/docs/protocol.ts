import { ERRORS, type ErrorCode, type ErrorEntry } from '../../src/core/error.ts'
import type { Method, Repeat } from '../../src/dialects/method.ts'
import { nameShapes, paramsText, resultText, type Shapes, shapesText } from './schema.ts'

/** What is generated in a page: the text between `<!-- name -->` and `<!-- /name -->`, by its name. */
export type Parts = Readonly<Record<string, () => string>>

/** What the reference shows of a method: the common descriptor, and what some protocols have beside it. */
export type Documented = Pick<
  Method<never>,
  'name' | 'summary' | 'scope' | 'repeat' | 'params' | 'result' | 'errors'
> & {
  also?: readonly string[]
  aliases?: Readonly<Record<string, readonly string[]>>
  /** Notifications follow: of this name, or as the protocol says. */
  streaming?: boolean | string
}

export interface Protocol {
  methods: readonly Documented[]
  /** What its schemas have in common, to be shown once and by name. */
  shapes?: Shapes
  /** How the answer of a method that streams goes on. */
  stream?: string
  /** The errors of its methods by name, in the order of the page. */
  errors?: readonly ProtocolError[]
  /** Where an error's name is found on the wire. */
  errorName?: string
}

export interface ProtocolError extends ErrorEntry {
  name: string
  code: number
}

/** The reference of a protocol: `methods` and, as far as they are given, `shapes` and `errors`. */
export function protocolParts(protocol: Protocol): Parts {
  const { methods, shapes = {}, stream = '', errors, errorName = '`data.code`' } = protocol
  nameShapes(shapes)
  return {
    methods: () => methods.map((method) => methodText(method, stream)).join('\n\n'),
    ...(protocol.shapes && { shapes: () => shapesText(shapes) }),
    ...(errors && { errors: () => errorsText(errors, errorName) }),
  }
}

/** The errors that methods may end with: first those that any method may end with. */
export function errorsOf<N extends string>(
  methods: readonly { errors: readonly N[] }[],
  always: readonly N[],
  codeOf: (name: N) => number,
  entryOf: (name: N) => ErrorEntry,
): ProtocolError[] {
  const names = new Set([...always, ...methods.flatMap(({ errors }) => errors)])
  return [...names].map((name) => ({ name, code: codeOf(name), ...entryOf(name) }))
}

/** An error of the core in a protocol that passes on only these fields of its data; the message says the rest. */
export function coreEntry(name: ErrorCode, fields: readonly string[]): ErrorEntry {
  const { meaning, remedy, data = '' }: ErrorEntry = ERRORS[name]
  const all = [...data.matchAll(/`(\w+)`/g)].map(([, field]) => field!)
  const missing = all.filter((field) => !fields.includes(field))
  return {
    meaning,
    remedy: remedy.replace(/`(\w+)`/g, (code, field: string) =>
      missing.includes(field) ? 'the message' : code,
    ),
    data: all.flatMap((field) => (fields.includes(field) ? [`\`${field}\``] : [])).join(', '),
  }
}

function methodText(method: Documented, stream: string): string {
  const { name, also = [], summary, aliases = {}, params, result, streaming } = method
  const others = Object.entries(aliases).map(
    ([param, names]) => `${names.map((one) => `\`${one}\``).join(', ')} for \`${param}\``,
  )
  const known = others.length === 0 ? '' : ` Also known: ${others.join('; ')}.`
  const title = [name, ...also].join(', ')
  const value = resultText(result)
  const answer = `Answers${value === 'null' ? '' : ` \`${value}\``}${streaming === undefined ? '' : following(streaming, stream)}`
  return `### ${title}\n\n${summary}${known}\n\n${paramsText(params)}\n\n${answer}\n\n${terms(method)}`
}

function following(streaming: boolean | string, stream: string): string {
  return typeof streaming === 'string' ? `, then \`${streaming}\` notifications` : stream
}

/** Who may call it, whether it may be repeated, what it may end with. */
function terms({ scope, repeat, errors }: Documented): string {
  const ends = errors.length === 0 ? '' : `; may end with ${errors.map((code) => `\`${code}\``).join(', ')}`
  return `Scope \`${scope}\`; ${REPEATS[repeat]}${ends}.`
}

const REPEATS: Record<Repeat, string> = {
  read: 'may be repeated',
  idempotent: 'may be repeated',
  keyed: 'may be repeated with the same `key` or `id`',
  aimed: 'may be repeated with a `turnId`',
  never: 'not to be repeated blindly',
}

function errorsText(errors: readonly ProtocolError[], errorName: string): string {
  const hasData = errors.some(({ data }) => data)
  const rows = errors.map(({ name, code, meaning, remedy, data = '' }) => {
    return `| \`${name}\` | ${code} | ${meaning} | ${remedy} |${hasData ? ` ${data} |` : ''}`
  })
  const head = `| ${errorName} | Code | Meaning | What to do |${hasData ? ' More in `data` |' : ''}`
  return [head, `|---|---|---|---|${hasData ? '---|' : ''}`, ...rows].join('\n')
}
