/** What the changes are counted from. */
export type Scope = 'turn' | 'session' | 'branch' | 'uncommitted'

/** `turnId` null: the last turn. */
export interface ChangesQuery {
  scope: Scope
  turnId: string | null
}

const SCOPES: readonly Scope[] = ['turn', 'session', 'branch', 'uncommitted']

/** What the address asks for; without it, the last turn. */
export function changesQueryIn(search: string): ChangesQuery {
  const params = new URLSearchParams(search)
  const scope = SCOPES.find((one) => one === params.get('scope')) ?? 'turn'
  return { scope, turnId: scope === 'turn' ? params.get('turn') : null }
}

export function changesPath(sessionId: string, { scope, turnId }: ChangesQuery): string {
  const params = new URLSearchParams({
    ...(scope !== 'turn' && { scope }),
    ...(turnId !== null && { turn: turnId }),
  })
  const query = params.toString()
  return `/s/${encodeURIComponent(sessionId)}/changes${query === '' ? '' : `?${query}`}`
}

interface Said {
  type: string
  text?: string
}

const MAX_LINE = 80

/** The first line of what was said, for a list of turns. */
export function firstLineOf(input: readonly Said[]): string {
  const text = input.find(({ type, text: said }) => type === 'text' && (said ?? '').trim() !== '')?.text ?? ''
  const line = text.trim().split('\n', 1)[0]!
  if (line === '') return input.length === 0 ? 'nothing' : 'a picture or a document'
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE - 1)}…` : line
}
