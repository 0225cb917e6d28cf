/** Where a key means something. What is nearer comes first: a decision before the list that it is shown in. */
export type KeyContext = 'anywhere' | 'list' | 'inbox' | 'decision' | 'changes'

export interface Key {
  context: KeyContext
  /** As `pressedKey` spells it; two of them, one after the other, are separated by a space. */
  key: string
  action: string
  /** For the help. */
  what: string
}

/** Every key of the dashboard. Handlers and the help read this table and nothing else. */
export const KEYS = [
  {
    context: 'anywhere',
    key: 'Mod+k',
    action: 'palette',
    what: 'Find a session, a page, an action or a message',
  },
  { context: 'anywhere', key: '?', action: 'help', what: 'Show these keys' },
  { context: 'anywhere', key: 'n', action: 'new', what: 'New session' },
  { context: 'anywhere', key: 'g n', action: 'goNow', what: 'Go to Now' },
  { context: 'anywhere', key: 'g i', action: 'goInbox', what: 'Go to the Inbox' },
  { context: 'anywhere', key: 'g s', action: 'goSearch', what: 'Go to Search' },
  { context: 'list', key: 'j', action: 'next', what: 'Next session' },
  { context: 'list', key: 'ArrowDown', action: 'next', what: 'Next session' },
  { context: 'list', key: 'k', action: 'previous', what: 'Previous session' },
  { context: 'list', key: 'ArrowUp', action: 'previous', what: 'Previous session' },
  { context: 'list', key: 'Enter', action: 'open', what: 'Open the session' },
  { context: 'list', key: 'Space', action: 'peek', what: 'Peek: its last lines and what it asks' },
  { context: 'list', key: 'x', action: 'select', what: 'Select, to act on several' },
  { context: 'list', key: 'e', action: 'done', what: 'Mark as done' },
  { context: 'list', key: 'z', action: 'snooze', what: 'Snooze' },
  { context: 'list', key: 'p', action: 'pin', what: 'Pin, or take the pin off' },
  { context: 'list', key: 'f', action: 'flag', what: 'Flags: words of your own' },
  { context: 'list', key: 'a', action: 'archive', what: 'Archive' },
  { context: 'list', key: '/', action: 'filter', what: 'Filter the list' },
  { context: 'list', key: 'v', action: 'group', what: 'Group by state or by project' },
  { context: 'list', key: 'b', action: 'board', what: 'List or board' },
  { context: 'list', key: 'Escape', action: 'leave', what: 'Close the peek, or drop the selection' },
  { context: 'inbox', key: 'j', action: 'next', what: 'Next decision' },
  { context: 'inbox', key: 'ArrowDown', action: 'next', what: 'Next decision' },
  { context: 'inbox', key: 'k', action: 'previous', what: 'Previous decision' },
  { context: 'inbox', key: 'ArrowUp', action: 'previous', what: 'Previous decision' },
  { context: 'inbox', key: 'Enter', action: 'open', what: 'Open the session that asks' },
  { context: 'inbox', key: 'x', action: 'select', what: 'Select, to answer several alike' },
  { context: 'inbox', key: 'z', action: 'defer', what: 'Not now' },
  { context: 'inbox', key: 'h', action: 'history', what: 'Open decisions, or the history' },
  { context: 'inbox', key: 'Escape', action: 'leave', what: 'Drop the selection' },
  { context: 'decision', key: '1', action: 'answer1', what: 'Allow once; for a question, the first option' },
  { context: 'decision', key: '2', action: 'answer2', what: 'Allow for this session; the second option' },
  { context: 'decision', key: '3', action: 'answer3', what: 'Allow for this project; the third option' },
  { context: 'decision', key: '4', action: 'answer4', what: 'Refuse with words; the fourth option' },
  { context: 'decision', key: '5', action: 'answer5', what: 'Edit before allowing; the fifth option' },
  { context: 'changes', key: 'j', action: 'next', what: 'Next line; with Shift, choose lines' },
  { context: 'changes', key: 'ArrowDown', action: 'next', what: 'Next line; with Shift, choose lines' },
  { context: 'changes', key: 'k', action: 'previous', what: 'Previous line' },
  { context: 'changes', key: 'ArrowUp', action: 'previous', what: 'Previous line' },
  { context: 'changes', key: 'Enter', action: 'comment', what: 'Comment on the lines' },
  { context: 'changes', key: 'c', action: 'comment', what: 'Comment on the lines' },
  { context: 'changes', key: 'Escape', action: 'leave', what: 'Choose nothing' },
] as const satisfies readonly Key[]

/** A key that is held goes on with these; anything else is done once for each press: what follows was not looked at yet. */
export const HELD: ReadonlySet<string> = new Set<Action>(['next', 'previous'])

type Row = (typeof KEYS)[number]
export type Action<C extends KeyContext = KeyContext> = Extract<Row, { context: C }>['action']

export const CONTEXT_NAMES: Readonly<Record<KeyContext, string>> = {
  anywhere: 'Anywhere',
  list: 'On Now',
  inbox: 'In the Inbox',
  decision: 'On a decision',
  changes: 'On a line of Changes',
}

export interface Pressed {
  key: string
  ctrlKey: boolean
  metaKey: boolean
  altKey: boolean
  shiftKey: boolean
}

/**
 * The name of what was pressed; null for what is never ours. Control and Command are both `Mod`. Shift counts only where the
 * key's own name does not show it.
 */
export function pressedKey({ key, ctrlKey, metaKey, altKey, shiftKey }: Pressed): string | null {
  if (['Shift', 'Control', 'Meta', 'Alt', 'Dead', 'Process', 'Unidentified'].includes(key)) return null
  if (altKey) return null
  const name = key === ' ' ? 'Space' : key
  const isLetter = key.length === 1 && key !== ' '
  if (ctrlKey || metaKey) return `Mod+${shiftKey ? 'Shift+' : ''}${isLetter ? key.toLowerCase() : name}`
  return shiftKey && !isLetter ? `Shift+${name}` : name
}

/** What a key press comes to, after the one before it. */
export type Meaning = { context: KeyContext; action: string } | { pending: string } | null

/** `contexts` are those that hold now, the nearest first. */
export function meaningOf(pressed: string, pending: string | null, contexts: readonly KeyContext[]): Meaning {
  const whole = pending === null ? pressed : `${pending} ${pressed}`
  for (const context of contexts) {
    const found = KEYS.find((one) => one.context === context && one.key === whole)
    if (found) return { context, action: found.action }
  }
  const begins = KEYS.some((one) => contexts.includes(one.context) && one.key.startsWith(`${whole} `))
  if (begins) return { pending: whole }
  return pending === null ? null : meaningOf(pressed, null, contexts)
}

/** There Command is what Control is elsewhere. */
export function isMac(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.userAgent)
}

/** For `aria-keyshortcuts` and the help: the first key of an action. */
export function keyOf<C extends KeyContext>(context: C, action: Action<C>): string {
  return KEYS.find((one) => one.context === context && one.action === action)!.key
}

/** The keys of the help: one line for each thing to do, with all of its keys. */
export function helpOf(): { context: KeyContext; lines: { keys: string[]; what: string }[] }[] {
  const contexts = Object.keys(CONTEXT_NAMES) as KeyContext[]
  return contexts.map((context) => {
    const rows: readonly Key[] = KEYS.filter((one) => one.context === context)
    const byAction = Map.groupBy(rows, (one) => one.action)
    const lines = [...byAction.values()].map((same) => ({
      keys: same.map(({ key }) => key),
      what: same[0]!.what,
    }))
    return { context, lines }
  })
}
