import type { Api } from '../client/client.ts'

export type Directory = Api['directory.list']['result']['directories'][number]
type Rules = Directory['rules']
type Patch = Api['directory.configure']['params']['rules']

/** What a rule says about what it fits. */
export type Verdict = 'allow' | 'deny'

export interface RuleRow {
  verdict: Verdict
  text: string
}

/** Rules of a directory, one below the other; those that refuse come first, since they win. */
export function ruleRows({ allow, deny }: Pick<Rules, 'allow' | 'deny'>): RuleRow[] {
  return [
    ...deny.map((text): RuleRow => ({ verdict: 'deny', text })),
    ...allow.map((text): RuleRow => ({ verdict: 'allow', text })),
  ]
}

/** What makes these rules have this one, too; null: they have it. */
export function withRule(rules: Pick<Rules, Verdict>, { verdict, text }: RuleRow): Patch | null {
  const wanted = text.trim()
  if (wanted === '' || rules[verdict].includes(wanted)) return null
  return { [verdict]: [...rules[verdict], wanted] }
}

export function withoutRule(rules: Pick<Rules, Verdict>, { verdict, text }: RuleRow): Patch {
  return { [verdict]: rules[verdict].filter((one) => one !== text) }
}

/** Directories that have any rule, by path. */
export function withRules(directories: readonly Directory[], now: number): Directory[] {
  return directories
    .filter(({ rules: { allow, deny, acceptEdits, skipUntil } }) => {
      return allow.length + deny.length > 0 || acceptEdits || (skipUntil !== null && skipUntil > now)
    })
    .toSorted((a, b) => a.path.localeCompare(b.path))
}

/** What a person can begin with. */
export const EXAMPLES: readonly { row: RuleRow; means: string }[] = [
  { row: { verdict: 'allow', text: 'shell(npm test*)' }, means: 'runs the tests without asking' },
  { row: { verdict: 'allow', text: 'edit(src/*)' }, means: 'edits files below src without asking' },
  { row: { verdict: 'deny', text: 'shell(git push*)' }, means: 'never pushes, in no mode' },
  { row: { verdict: 'deny', text: 'edit(*/.env)' }, means: 'never changes a .env file' },
]

/** The classes of tools, as docs/rules.md has them. */
export const CLASSES: readonly { name: string; what: string; pattern: string }[] = [
  { name: 'shell', what: 'run a command', pattern: 'the command' },
  { name: 'edit', what: 'change, make, move or remove files', pattern: 'each path' },
  { name: 'read', what: 'read a file', pattern: 'each path' },
  { name: 'fetch', what: 'fetch an address', pattern: 'the address' },
  { name: 'search', what: 'search for something', pattern: 'where it searches, or what for' },
  {
    name: 'mcp',
    what: 'use a tool of an MCP server',
    pattern: 'the command, paths and addresses in its input',
  },
  { name: 'other', what: 'anything else', pattern: '' },
]
