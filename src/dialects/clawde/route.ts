const ASKING = ['debug', 'explain', 'review', 'why', 'error', 'bug', 'what', 'analyze', 'analyse', 'trace']
const MAKING = [
  'implement',
  'refactor',
  'add',
  'write',
  'create',
  'build',
  'fix',
  'rename',
  'migrate',
  'test',
]

/** Which agent `auto` means: who has something looked into gets Codex, who has something made gets Claude. */
export function routed(message: string): 'claude' | 'codex' {
  const words = message.toLowerCase().match(/[a-z]+/g) ?? []
  const score = (list: readonly string[]): number => words.filter((word) => list.includes(word)).length
  return score(ASKING) > score(MAKING) ? 'codex' : 'claude'
}
