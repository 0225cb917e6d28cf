import { z } from 'zod'

/** Schemas as the text of TypeScript types and as tables of parameters. */

type Json = z.core.JSONSchema.BaseSchema

const NAMES = new Map<unknown, string>()

/** Wherever these schemas are part of another one, it says their name. */
export function nameShapes(shapes: Shapes): void {
  for (const [name, schema] of Object.entries(shapes)) NAMES.set(schema, name)
}

/** Schemas by the names that a page gives them. */
export type Shapes = Readonly<Record<string, z.ZodType>>

function jsonOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  return z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema, path }) {
      const name = NAMES.get(zodSchema)
      if (name === undefined || path.length === 0) return
      for (const key of Object.keys(jsonSchema)) delete (jsonSchema as Record<string, unknown>)[key]
      jsonSchema.title = name
    },
  })
}

function typeText(json: Json): string {
  if (json.title) return json.title
  const options = json.anyOf ?? json.oneOf
  if (options) return [...new Set(options.map((option) => typeText(option as Json)))].join(' | ')
  if (json.const !== undefined) return literal(json.const)
  if (json.enum) return json.enum.map(literal).join(' | ')
  if (json.prefixItems) return `[${json.prefixItems.map((item) => typeText(item as Json)).join(', ')}]`
  if (json.type === 'array') return arrayText(typeText(json.items as Json))
  if (json.type === 'object' && json.properties) return `{ ${fields(json).join('; ')} }`
  const types = [json.type ?? 'unknown'].flat() as string[]
  return types.map((type) => ({ integer: 'number', object: 'object' })[type] ?? type).join(' | ')
}

function arrayText(item: string): string {
  return item.includes(' | ') ? `(${item})[]` : `${item}[]`
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value)
}

function fields(json: Json): string[] {
  return Object.entries(json.properties ?? {}).map(([name, field]) => {
    return `${name}${json.required?.includes(name) ? '' : '?'}: ${typeText(field as Json)}`
  })
}

function variants(json: Json): Json[] {
  return (json.oneOf ?? json.anyOf ?? [json]) as Json[]
}

function fieldRows(json: Json): string[] {
  return Object.entries(json.properties ?? {}).map(([name, value]) => {
    const field = value as Json
    const start = field.default === undefined ? '' : ` (${JSON.stringify(field.default)})`
    const need = json.required?.includes(name) ? 'yes' : `no${start}`
    const type = typeText(field).replaceAll('|', '\\|')
    return `| \`${name}\` | ${type} | ${need} | ${field.description ?? ''} |`
  })
}

export function paramsText(schema: z.ZodType): string {
  const head = ['| Parameter | Type | Needed | |', '|---|---|---|---|']
  const tables = variants(jsonOf(schema, 'input')).map((variant) => {
    const rows = fieldRows(variant)
    return rows.length === 0 ? 'No parameters.' : [...head, ...rows].join('\n')
  })
  return tables.join('\n\nor\n\n')
}

export function resultText(schema: z.ZodType): string {
  return NAMES.get(schema) ?? typeText(jsonOf(schema, 'output'))
}

/** One field to a line, with what there is to say about it. */
function fieldLines(json: Json): string[] {
  const notes = Object.values(json.properties ?? {}).map((field) => (field as Json).description)
  return fields(json).map((field, index) => `  ${field}${notes[index] ? ` // ${notes[index]}` : ''}\n`)
}

export function shapesText(shapes: Shapes): string {
  const texts = Object.entries(shapes).map(([name, shape]) => {
    const all = variants(jsonOf(shape, 'output'))
    const only = all.length === 1 ? all[0] : undefined
    const body = only
      ? `{\n${fieldLines(only).join('')}}`
      : all.map((variant) => `\n  | ${typeText(variant)}`).join('')
    return `type ${name} = ${body}`
  })
  return `\`\`\`ts\n${texts.join('\n\n')}\n\`\`\``
}
