import { ERRORS } from '../../src/core/error.ts'
import { EVENTS } from '../../src/dialects/native/wire-event.ts'
import { definitions, methods, type Json } from '../../src/dialects/native/json-schema.ts'

/** The types of the native protocol for the client, without the schemas that they come from: no program needs zod for them. */

/** The client has objects of these names. */
const RENAMED: Readonly<Record<string, string>> = {
  Session: 'SessionView',
  Turn: 'TurnView',
  Approval: 'ApprovalView',
}

export function typesSource(): string {
  const all = definitions()
  const shapes = Object.entries(all).filter(([name]) => /^[A-Z]\w*$/.test(name) && !MESSAGES.has(name))
  const declared = shapes.map(
    ([name, shape]) => `${comment(shape, '')}export type ${typeName(name)} = ${typeOf(shape)}`,
  )
  const events = Object.keys(EVENTS).map((type) => `  '${type}': ${typeOf(all[`${type}.event`]!, '  ')}`)
  const calls = methods.map(
    ({ name, summary }) =>
      `  /** ${summary} */\n  '${name}': {\n    params: ${paramsOf(all[`${name}.params`]!)}\n    result: ${typeOf(all[`${name}.result`]!, '    ')}\n  }`,
  )
  const codes = Object.keys(ERRORS).map((code) => `\n  | '${code}'`)
  return `/* Made by \`npm run docs\` from the descriptors of the methods. */

${declared.join('\n\n')}

/** The events of the log, by type. */
export interface Events {
${events.join('\n')}
}

export type EventType = keyof Events

/** One fact in the log. */
export type Event = Events[EventType]

/** The codes of refusals: docs/native.md says what each means. */
export type ErrorCode =${codes.join('')}

/** The parameters and the result of every method, by name. */
export interface Api {
${calls.join('\n')}
}
`
}

const MESSAGES = new Set(['Event', 'Error', 'Request', 'Response', 'Notification'])

/** What to do about an error, for programs that show it. */
export function remediesSource(): string {
  const lines = Object.entries(ERRORS).map(([code, { remedy }]) => `\n  ${code}: ${quoted(remedy)},`)
  return `/* Made by \`npm run docs\` from the list of errors. */
import type { ErrorCode } from './api.ts'

/** What to do about a refusal. */
export const REMEDIES: Readonly<Record<ErrorCode | 'unauthorized', string>> = {${lines.join('')}
  unauthorized: 'Give a token that is valid: corral token show prints the one of the owner.',
}
`
}

function quoted(text: string): string {
  return text.includes("'") ? JSON.stringify(text) : `'${text}'`
}

function typeName(name: string): string {
  return RENAMED[name] ?? name
}

function typeOf(json: Json, indent = ''): string {
  if (json.$ref) return typeName(json.$ref.replace('#/$defs/', ''))
  const options = json.anyOf ?? json.oneOf
  if (options) return unionOf(options as Json[], indent)
  if (json.const !== undefined) return literal(json.const)
  if (json.enum) return json.enum.map(literal).join(' | ')
  if (json.prefixItems) return `[${json.prefixItems.map((item) => typeOf(item as Json, indent)).join(', ')}]`
  if (Array.isArray(json.type))
    return json.type.map((type) => typeOf({ ...json, type } as Json, indent)).join(' | ')
  if (json.type === 'array') return arrayOf(typeOf(json.items as Json, indent), json.readOnly === true)
  if (json.type === 'object') return objectOf(json, indent)
  return json.type === undefined ? 'unknown' : json.type === 'integer' ? 'number' : json.type
}

/** JSON leaves out what is undefined: whoever has an option that may be can pass it on. */
function paramsOf(json: Json): string {
  return typeOf(json, '    ')
    .replace(/^( {6}\w+\?: (?:.*[^{(]))$/gm, '$1 | undefined')
    .replaceAll('unknown | undefined', 'unknown')
}

function unionOf(options: Json[], indent: string): string {
  const texts = [...new Set(options.map((option) => typeOf(option, `${indent}    `)))]
  const line = texts.join(' | ')
  if (line.length < 90 && !line.includes('\n')) return line
  if (texts.length === 2 && texts[1] === 'null') return `${typeOf(options[0]!, indent)} | null`
  return texts.map((text) => `\n${indent}  | ${text}`).join('')
}

function arrayOf(item: string, isReadOnly: boolean): string {
  const list = /^[\w.]+$/.test(item) ? `${item}[]` : `(${item})[]`
  return isReadOnly ? `readonly ${list}` : list
}

function objectOf(json: Json, indent: string): string {
  const fields = Object.entries(json.properties ?? {})
  const rest = json.additionalProperties
  if (fields.length === 0) {
    return typeof rest === 'object'
      ? `Record<string, ${typeOf(rest as Json, indent)}>`
      : 'Record<string, never>'
  }
  const inner = `${indent}  `
  const lines = fields.map(([name, field]) => {
    const optional = json.required?.includes(name) ? '' : '?'
    return `${comment(field as Json, inner)}${inner}${/^\w+$/.test(name) ? name : `'${name}'`}${optional}: ${typeOf(field as Json, inner)}\n`
  })
  const others = typeof rest === 'object' ? `${inner}[name: string]: ${typeOf(rest as Json, inner)}\n` : ''
  return `{\n${others}${lines.join('')}${indent}}`
}

function comment({ description, default: start }: Json, indent: string): string {
  const text = [description, start === undefined ? undefined : `default: ${JSON.stringify(start)}`]
  const given = text.filter((one) => one !== undefined).join('; ')
  return given === '' ? '' : `${indent}/** ${given.replaceAll('*/', '*\\/')} */\n`
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value)
}
